/**
 * Resends a write whose answer was lost, under the same ids, until its outcome is known. A retry after an
 * unknown commit creates no second job.
 */
import { isJobmillError, type JobmillError } from '../job/errors.ts'
import type { NewJob } from '../job/enqueue/new-job.ts'
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import type { Enqueued } from '../store/types/replies.ts'

export type Send = (jobs: readonly NewJob[], options: { readonly mayRepeat: boolean }) => Promise<Enqueued[]>

/**
 * Pauses between sends of a write whose outcome is unknown. After the last one, the caller gets the error.
 */
const RESEND_AFTER_MS = [0, 50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800]

/** After this many sends, 1.5 s after the first, `narrow` is called once. */
const NARROW_AFTER_SENDS = 7

export interface Resend {
  readonly mayRepeat: boolean
  readonly platform: Platform
  /** May reduce the jobs to those that the database keeps refusing. `error` is that of the last send. */
  readonly narrow: (error: unknown) => Promise<void>
}

/** Resolves with the replies for the jobs that are left. */
export async function sendUntilKnown(
  send: Send,
  jobs: () => readonly NewJob[],
  { mayRepeat, platform, narrow }: Resend,
): Promise<Enqueued[]> {
  let unknown: JobmillError | undefined
  for (let sends = 1; ; sends += 1) {
    try {
      return await send(jobs(), { mayRepeat: mayRepeat || unknown !== undefined })
    } catch (error) {
      if (isJobmillError(error) && error.code === 'OUTCOME_UNKNOWN') unknown = error
      // After one unknown outcome, a later refusal does not show whether the first write committed. Retryable
      // errors are retried; any other error is reported as OUTCOME_UNKNOWN.
      else if (unknown === undefined) throw error
      else if (!isJobmillError(error) || !error.retryable) throw unknown
      if (sends === NARROW_AFTER_SENDS) await narrow(error)
    }
    if (jobs().length === 0) return []
    const waitMs = RESEND_AFTER_MS[sends - 1]
    if (waitMs === undefined) throw unknown
    await sleep(platform, waitMs)
  }
}
