/**
 * A write whose answer was lost is sent again under the same ids until it is known what became of it: a retry after an
 * unknown commit makes no second job.
 */
import { isJobmillError, type JobmillError } from '../job/errors.ts'
import type { NewJob } from '../job/new-job.ts'
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import type { Enqueued } from '../store/replies.ts'

export type Send = (jobs: readonly NewJob[], options: { readonly mayRepeat: boolean }) => Promise<Enqueued[]>

/** Waits between sends of a write whose outcome is unknown; after the last one the caller is told. */
const RESEND_AFTER_MS = [0, 50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800]

export async function sendUntilKnown(
  send: Send,
  jobs: readonly NewJob[],
  mayRepeat: boolean,
  platform: Platform,
): Promise<Enqueued[]> {
  let unknown: JobmillError | undefined
  for (let sends = 1; ; sends += 1) {
    try {
      return await send(jobs, { mayRepeat: mayRepeat || unknown !== undefined })
    } catch (error) {
      if (isJobmillError(error) && error.code === 'OUTCOME_UNKNOWN') unknown = error
      // Once one outcome is unknown, no later refusal says anything of that first write. What may pass is tried
      // again; otherwise the caller is told the truth, which is that the jobs may have been written.
      else if (unknown === undefined) throw error
      else if (!isJobmillError(error) || !error.retryable) throw unknown
    }
    const waitMs = RESEND_AFTER_MS[sends - 1]
    if (waitMs === undefined) throw unknown
    await sleep(platform, waitMs)
  }
}
