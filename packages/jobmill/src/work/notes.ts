/**
 * Writes progress and logs of running attempts: batched, at most twice a second, and only when they changed.
 */
import { isDataError } from '../job/errors.ts'
import type { Emit } from '../job/events.ts'
import type { Platform, Timer } from '../platform/platform.ts'
import type { Progress } from '../store/types/finish.ts'
import type { Attempt } from './attempt.ts'

interface NotesOptions {
  readonly write: (items: readonly Progress[]) => Promise<boolean[]>
  readonly platform: Platform
  readonly everyMs: number
  readonly emit: Emit
  /** This attempt no longer holds the lease, according to the database. */
  readonly stale: (attempt: Attempt) => void
}

interface Note {
  readonly attempt: Attempt
  readonly item: Progress
}

export function notes({ write, platform, everyMs, emit, stale }: NotesOptions) {
  const dirty = new Set<Attempt>()
  let timer: Timer | null = null
  let stopped = false

  function arm(): void {
    if (timer === null && !stopped && dirty.size > 0) timer = platform.timer(everyMs, () => void flush())
  }

  async function flush(): Promise<void> {
    // Ended attempts store their log with the outcome.
    const due = [...dirty].filter((attempt) => !attempt.ended)
    dirty.clear()
    if (due.length > 0) await send(due.map((attempt) => ({ attempt, item: noteOf(attempt) })))
    timer = null
    arm()
  }

  async function send(due: readonly Note[]): Promise<void> {
    try {
      const current = await write(due.map(({ item }) => item))
      due.forEach(({ attempt, item: { value } }, at) => {
        if (current[at] === false) stale(attempt)
        else if (value !== undefined && !attempt.ended)
          emit('progress', { ...attempt.ref, value: JSON.parse(value) as unknown })
      })
    } catch (error) {
      if (!isDataError(error)) return due.forEach(keep)
      // The database rejects one of them. Write each on its own, and skip the bad one until it changes.
      if (due.length > 1) for (const one of due) await send([one])
    }
  }

  /** Restores notes that were not written. A newer value stays, and the next write includes the lost ones. */
  function keep({ attempt, item: { value, log } }: Note): void {
    attempt.progress ??= value
    if (log !== undefined) attempt.log.changedAgain()
    dirty.add(attempt)
  }

  return {
    /** Schedules a write for this attempt. */
    changed: (attempt: Attempt) => {
      dirty.add(attempt)
      arm()
    },
    stop() {
      stopped = true
      timer?.cancel()
      timer = null
      dirty.clear()
    },
  }
}

function noteOf(attempt: Attempt): Progress {
  const { id, token } = attempt.lease
  const value = attempt.progress
  attempt.progress = undefined
  return {
    id,
    token,
    ...(value === undefined ? {} : { value }),
    // The whole log, so that the next write makes up for a lost one.
    ...(value === undefined || attempt.log.takeChanged() ? { log: attempt.log.text() ?? '' } : {}),
  }
}
