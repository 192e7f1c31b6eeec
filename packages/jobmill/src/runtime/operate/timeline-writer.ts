/**
 * Writes rows about manual changes to the timeline. Concurrent changes share a statement, and each row is
 * committed before the call that made it returns.
 */
import { isJobmillError } from '../../job/errors.ts'
import { errorText, storableText } from '../../job/text/error-text.ts'
import type { NewTimelineEvent } from '../../store/types/metrics.ts'
import type { MillTools } from '../tools.ts'

export type TimelineWriter = (events: readonly Omit<NewTimelineEvent, 'agoMs'>[]) => Promise<void>

export function timelineWriter({ opened, platform }: Pick<MillTools, 'opened' | 'platform'>): TimelineWriter {
  const source = platform.id()
  let seq = 0
  let waiting: NewTimelineEvent[] = []
  let next: Promise<void> | null = null
  let writing: Promise<void> = Promise.resolve()

  /** Runs one statement at a time. Rows that arrive during a statement go into the next one. */
  return (events) => {
    for (const event of events) waiting.push({ ...event, agoMs: 0 })
    next ??= writing.then(async () => {
      const events = waiting
      waiting = []
      next = null
      seq += 1
      const recording = { source, seq, deltas: [], own: [], events }
      const store = await opened()
      await store.metrics.record(recording).catch((error: unknown) => {
        // The recording has a sequence number, so a resend after a lost reply is not written twice.
        if (isJobmillError(error) && error.retryable) return store.metrics.record(recording)
        throw error
      })
    })
    const mine = next
    writing = mine.catch(() => {})
    return mine
  }
}

/**
 * The value, or the start of its JSON if that has more than 4,096 characters: a payload can have a megabyte,
 * and event streams and the timeline read whole rows.
 */
export function shortened(value: unknown): unknown {
  try {
    // Undefined for undefined and functions, which JSON omits.
    const text = JSON.stringify(value, storable) as string | undefined
    const stored = text === undefined ? undefined : storableText(text)
    return stored === text ? value : { shortened: stored }
  } catch (error) {
    // A change is recorded whatever its values are.
    return { shortened: `not JSON: ${errorText(error)}` }
  }
}

/** One text that a database refuses would lose the rows of all changes in the same statement. */
export function storable(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value)
  if (entries.every(([key]) => cleanText(key) === key)) return value
  return Object.fromEntries(entries.map(([key, one]) => [cleanText(key), one]))
}

function cleanText(text: string): string {
  return storableText(text, Number.POSITIVE_INFINITY)
}
