/**
 * Buffers the events that no job or attempt records until they are written. When the buffer is full, further
 * events are dropped and counted.
 */
import { DEFAULTS } from '../job/defaults.ts'
import { errorText, storableText } from '../job/text/error-text.ts'
import type { EventTable, EventType } from '../job/events.ts'
import type { Platform } from '../platform/platform.ts'
import type { NewTimelineEvent } from '../store/types/metrics.ts'
import type { Tap } from './event-hub.ts'
import { EVENT_TYPES, EVENTS } from './event-types.ts'

export interface KeptEvent extends Omit<NewTimelineEvent, 'agoMs'> {
  /** On the monotonic clock. */
  readonly at: number
}

export type Timeline = ReturnType<typeof timeline>

/** Manual changes are stored in the timeline too, but are not emitted as events. */
export const AUDIT = 'audit'

/** A job that was retried with a patched payload: who patched what. Stored like manual changes. */
export const PATCHED = 'payload-patched'

/** The types of timeline entries. */
export const KEPT_TYPES: readonly string[] = [
  ...EVENT_TYPES.filter((type) => EVENTS[type].isKept === true),
  AUDIT,
  PATCHED,
]

/** The maximum number of list items kept. */
const MOST_LISTED = 100

export function timeline(platform: Platform, limit: number = DEFAULTS.eventBuffer) {
  const waiting: KeptEvent[] = []
  let dropped = 0

  function add(type: EventType, fields: object): void {
    if (waiting.length >= limit) dropped += 1
    else waiting.push({ type, at: platform.monotonic(), ...split(fields) })
  }

  const keep: Tap = (type, event) => {
    if (EVENTS[type].isKept !== true) return
    if (type !== 'reaped') return add(type, event)
    for (const part of perQueue(event as EventTable['reaped'])) add(type, part)
  }

  return {
    keep,
    /** Removes and returns the oldest entries, up to this many. */
    take: (most: number) => waiting.splice(0, most),
    isEmpty: () => waiting.length === 0,
    /** The number of dropped events so far. */
    dropped: () => dropped,
  }
}

/**
 * A process may die with thousands of jobs. Their attempts have the details, so only counts by queue are kept
 * here.
 */
function perQueue({ instances, jobs }: EventTable['reaped']): object[] {
  if (jobs.length === 0) return [{ instances, jobs: 0 }]
  const byQueue = Map.groupBy(jobs, ({ queue }) => queue)
  return [...byQueue].map(([queue, own]) => ({ queue, instances, jobs: own.length }))
}

function split(fields: object): Pick<KeptEvent, 'queue' | 'job' | 'data'> {
  const { queue = null, id: job = null, ...rest } = fields as { queue?: string; id?: string }
  return { queue, job, data: JSON.stringify(rest, storable) }
}

/**
 * Converts values when they are kept, not when they are written: an error may reference large objects, and
 * must not break the write.
 */
function storable(key: string, value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (key === 'error') return errorText(value)
  return Array.isArray(value) ? value.slice(0, MOST_LISTED) : value
}
