/**
 * Cancels waiting jobs, and requests the cancellation of running ones: their instance sees the request in its
 * heartbeat.
 */
import type { Verdict } from '../../store/types/replies.ts'
import { recordAttempt } from '../finish/attempts.ts'
import { CANCELLED, type JobRow, READY, RUNNING, SCHEDULED } from '../job-row.ts'
import { endJob } from '../finish/leave-running.ts'
import { changedVerdict, type Did, forEachJob, refusedVerdict, unchangedVerdict } from './verdicts.ts'
import type { Work } from '../work.ts'

// By primary key, after the row was read under the same write lock.
const ASK = `UPDATE jobmill_job SET cancel_reason = ? WHERE pk = ?`

export function cancel(work: Work, ids: readonly string[], reason: string): Verdict[] {
  return forEachJob(work, ids, (job) => {
    if (job.state === SCHEDULED || job.state === READY) return cancelWaiting(work, job, reason)
    if (job.state === RUNNING) return ask(work, job, reason)
    return job.state === CANCELLED ? unchangedVerdict(job) : refusedVerdict(job)
  })
}

function cancelWaiting(work: Work, job: JobRow, reason: string): Did {
  recordAttempt(work.sql, job, {
    // No lease has this token; it only keeps the history in order.
    token: work.counters.takeToken(work.now),
    outcome: 'cancelled',
    startedAt: null,
    endedAt: work.now,
    wentTo: null,
    instance: null,
    error: reason,
    log: null,
  })
  endJob(work, job, CANCELLED, { attempt: job.attempt, crashes: job.crashes, records: job.records + 1 })
  return changedVerdict('cancelled')
}

function ask({ sql }: Work, job: JobRow, reason: string): Did {
  if (job.cancel_reason !== null) return unchangedVerdict(job)
  sql(ASK).run(reason, job.pk)
  return changedVerdict('running')
}
