/**
 * Deletes jobs with their history and tags. Refuses running jobs, because their attempt could no longer be
 * fenced.
 */
import type { Verdict } from '../../store/types/replies.ts'
import { dropAttempts } from '../finish/attempts.ts'
import { freeKey, holdKey } from '../enqueue/dedupe.ts'
import { DONE, type JobRow, READY, RUNNING, SCHEDULED } from '../job-row.ts'
import { leaveOrder } from '../enqueue/order-queue.ts'
import { freeHolder } from '../limits/permits.ts'
import { changedVerdict, forEachJob, refusedVerdict } from './verdicts.ts'
import type { Work } from '../work.ts'

// Each by primary key.
const DELETE = `DELETE FROM jobmill_job WHERE pk = ?`
const UNTAG = `DELETE FROM jobmill_tag WHERE tag = ? AND id = ?`

export function deleteJobs(work: Work, ids: readonly string[]): Verdict[] {
  return forEachJob(work, ids, (job) => {
    if (job.state === RUNNING) return refusedVerdict(job)
    removeJob(work, job)
    // The dedupe hold of an ended job outlives the job.
    if (job.state === SCHEDULED || job.state === READY) {
      freeKey(work.sql, job)
      leaveOrder(work, job)
    }
    return changedVerdict(null)
  })
}

/** Removes a done job at once; only the hold on its dedupe key stays. */
export function forgetJob(work: Work, job: JobRow): void {
  if (job.permits === 1) freeHolder(work, job.id)
  removeJob(work, job)
  holdKey(work.sql, job, DONE, work.now)
  leaveOrder(work, job)
}

export function removeJob(
  { sql, moves }: Work,
  job: Pick<JobRow, 'pk' | 'id' | 'queue_id' | 'state' | 'tags'>,
): void {
  sql(DELETE).run(job.pk)
  dropAttempts(sql, job.pk)
  if (job.tags !== null) for (const tag of JSON.parse(job.tags) as string[]) sql(UNTAG).run(tag, job.id)
  moves.move(job.queue_id, job.state, null)
}
