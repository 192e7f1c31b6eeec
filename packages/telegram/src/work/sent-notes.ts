/**
 * At-most-once replies: each attempt writes a note before it calls Telegram, and removes it if it knows that
 * nothing was sent. So a note that remains means that the reply may have arrived.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { StartedReplies } from '../sessions/started-replies.ts'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** Bounds the memory for jobs that continue in another process. */
const MOST_JOBS = 1_000

export function sentNotes(replies: StartedReplies) {
  /** Tokens of attempts in this process that sent nothing and whose note may remain, by job. */
  const unsent = new Map<string, readonly string[]>()

  function remember(jobId: string, token: string): void {
    unsent.set(jobId, [...(unsent.get(jobId) ?? []), token])
    const [oldest] = unsent.keys()
    if (unsent.size > MOST_JOBS && oldest !== undefined) unsent.delete(oldest)
  }

  function forget(jobId: string, token: string): void {
    const rest = (unsent.get(jobId) ?? []).filter((one) => one !== token)
    if (rest.length === 0) unsent.delete(jobId)
    else unsent.set(jobId, rest)
  }

  return (jobId: string, signal: AbortSignal) => {
    const token = randomUUID()
    return {
      /** Returns false if an earlier attempt may have sent the reply. */
      async begin(): Promise<boolean> {
        const isFirst = await replies.begin(jobId, token, unsent.get(jobId) ?? [])
        if (isFirst) unsent.delete(jobId)
        return isFirst
      },
      /**
       * Removes the note of a reply that certainly did not arrive. Also called if it is unknown whether the
       * note was written. Retries for as long as this process holds the job, so that the next holder finds no
       * note.
       */
      async undo(): Promise<void> {
        remember(jobId, token)
        for (let waitMs = FIRST_PAUSE_MS; !signal.aborted; waitMs = Math.min(LONGEST_PAUSE_MS, waitMs * 2)) {
          try {
            await replies.undo(jobId, token)
            return forget(jobId, token)
          } catch {
            await pause(waitMs, undefined, { signal }).catch(() => {})
          }
        }
      },
    }
  }
}
