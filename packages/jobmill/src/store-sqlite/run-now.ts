/** Makes scheduled jobs due now. */
import type { Verdict } from '../store/replies.ts'
import { READY, SCHEDULED } from './job-row.ts'
import { joinOrderQueue, makeReady, mayRun } from './order-queue.ts'
import { changed, forEachJob, refused, unchanged } from './verdicts.ts'
import type { Work } from './work.ts'

export function runNow(work: Work, ids: readonly string[]): Verdict[] {
  return forEachJob(work, ids, (job) => {
    if (job.state === READY || job.in_order_queue === 1) return unchanged(job)
    if (job.state !== SCHEDULED) return refused(job)
    if (mayRun(work, job)) {
      makeReady(work, job)
      return changed('ready')
    }
    joinOrderQueue(work, job, work.now)
    return changed('scheduled')
  })
}
