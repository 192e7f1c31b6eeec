/** Progress and logs of running attempts: written together, at most twice a second, and only when there is something new. */
import { isDataError } from '../job/errors.ts'
import type { Emit } from '../job/events.ts'
import type { Platform, Timer } from '../platform/platform.ts'
import type { Progress } from '../store/finish.ts'
import type { Attempt } from './attempt.ts'

export interface Notes {
  /** Something of this attempt is to be written soon. */
  readonly changed: (attempt: Attempt) => void
  stop(): void
}

export interface NotesOptions {
  readonly write: (items: readonly Progress[]) => Promise<boolean[]>
  readonly platform: Platform
  readonly everyMs: number
  readonly emit: Emit
  /** The database says that somebody else has this job. */
  readonly stale: (attempt: Attempt) => void
}

interface Note {
  readonly attempt: Attempt
  readonly item: Progress
}

export function notes({ write, platform, everyMs, emit, stale }: NotesOptions): Notes {
  const dirty = new Set<Attempt>()
  let timer: Timer | null = null
  let stopped = false

  function arm(): void {
    if (timer === null && !stopped && dirty.size > 0) timer = platform.timer(everyMs, () => void flush())
  }

  async function flush(): Promise<void> {
    // What has ended carries its log in its finish.
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
      // One of them will never be taken. Apart the others are, and that one is left out until it changes.
      if (due.length > 1) for (const one of due) await send([one])
    }
  }

  /** Told by the other parts; what is newer than this stays, what was lost is written with the next change. */
  function keep({ attempt, item: { value, log } }: Note): void {
    attempt.progress ??= value
    if (log !== undefined) attempt.log.changedAgain()
    dirty.add(attempt)
  }

  return {
    changed(attempt) {
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
    // The whole of it, so that a note that was lost is made up for by the next one.
    ...(value === undefined || attempt.log.takeChanged() ? { log: attempt.log.text() ?? '' } : {}),
  }
}
