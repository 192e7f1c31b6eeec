/** Makes scheduled jobs due now. */
import type { Verdict } from '../../store/types/replies.ts'
import { READY, SCHEDULED } from '../job-row.ts'
import { joinOrderQueue, makeReady, mayRun } from '../enqueue/order-queue.ts'
import { changedVerdict, forEachJob, refusedVerdict, unchangedVerdict } from './verdicts.ts'
import type { Work } from '../work.ts'

export function runNow(work: Work, ids: readonly string[]): Verdict[] {
  return forEachJob(work, ids, (job) => {
    if (job.state === READY || job.in_order_queue === 1) return unchangedVerdict(job)
    if (job.state !== SCHEDULED) return refusedVerdict(job)
    if (mayRun(work, job)) {
      makeReady(work, job)
      return changedVerdict('ready')
    }
    joinOrderQueue(work, job, work.now)
    return changedVerdict('scheduled')
  })
}
