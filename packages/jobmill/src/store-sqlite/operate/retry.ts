/** Retries dead or cancelled jobs: as if new, but with their history. */
import type { Verdict } from '../../store/types/replies.ts'
import { keyHolder, takeKey } from '../enqueue/dedupe.ts'
import { CANCELLED, DEAD, type JobRow } from '../job-row.ts'
import { joinOrderQueue, makeReady } from '../enqueue/order-queue.ts'
import { changedVerdict, type Did, forEachJob, refusedVerdict } from './verdicts.ts'
import type { Work } from '../work.ts'

// By primary key, after the row was read under the same write lock.
const RENEW = `UPDATE jobmill_job SET attempt = 0, crashes = 0, ended_at = NULL, due_at = ? WHERE pk = ?`

export function retry(work: Work, ids: readonly string[]): Verdict[] {
  return forEachJob(work, ids, (job) =>
    job.state === DEAD || job.state === CANCELLED ? revive(work, job) : refusedVerdict(job),
  )
}

export function revive(work: Work, job: JobRow): Did {
  if (job.dedupe_key !== null) {
    const holder = keyHolder(work.sql, job.dedupe_key, work.now)
    // The job itself holds the key if it is held however the job ended.
    if (holder !== undefined && holder !== job.id) return { ...refusedVerdict(job), holder }
    takeKey(work.sql, job.dedupe_key, job.id)
  }
  work.sql(RENEW).run(work.now, job.pk)
  if (job.order_key !== null) {
    joinOrderQueue(work, job, work.now)
    return changedVerdict('scheduled')
  }
  makeReady(work, job)
  return changedVerdict('ready')
}
