/**
 * Replies that must not arrive twice: each attempt notes that it begins, before Telegram hears of it. Only the note of an attempt that made its call, or whose
 * process died, means that the reply may have arrived: an attempt that knows better takes its note back.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Begun } from '../sessions/begun.ts'

interface SentNote {
  /** False when an earlier attempt may have sent it. */
  readonly begin: () => Promise<boolean>
  /** It certainly did not arrive. Also for a note of which nobody knows whether it was written: the answer of the database may be what was lost. */
  readonly undo: () => Promise<void>
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** Of jobs that go on in another process nobody here hears. */
const MOST_JOBS = 1_000

export function sentNotes(begun: Begun): (jobId: string, signal: AbortSignal) => SentNote {
  /** Attempts of this process that sent nothing and whose note may still be there, by their jobs. */
  const unsent = new Map<string, readonly string[]>()

  function remember(jobId: string, token: string): void {
    unsent.set(jobId, [...(unsent.get(jobId) ?? []), token])
    const [oldest] = unsent.keys()
    if (unsent.size > MOST_JOBS && oldest !== undefined) unsent.delete(oldest)
  }

  function forget(jobId: string, token: string): void {
    const others = (unsent.get(jobId) ?? []).filter((one) => one !== token)
    if (others.length === 0) unsent.delete(jobId)
    else unsent.set(jobId, others)
  }

  return (jobId, signal) => {
    const token = randomUUID()
    return {
      async begin() {
        const isFirst = await begun.begin(jobId, token, unsent.get(jobId) ?? [])
        if (isFirst) unsent.delete(jobId)
        return isFirst
      },
      /** For as long as the job is ours, so that whoever has it next, in any process, finds no note. */
      async undo() {
        remember(jobId, token)
        for (let waitMs = FIRST_PAUSE_MS; !signal.aborted; waitMs = Math.min(LONGEST_PAUSE_MS, waitMs * 2)) {
          try {
            await begun.undo(jobId, token)
            return forget(jobId, token)
          } catch {
            await pause(waitMs, undefined, { signal }).catch(() => {})
          }
        }
      },
    }
  }
}
