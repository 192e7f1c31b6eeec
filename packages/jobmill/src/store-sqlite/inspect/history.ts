/** The attempts of one job, oldest first. */
import { outcomeOfCode } from '../../job/attempt/outcome.ts'
import type { AttemptRecord } from '../../store/types/job-record.ts'
import type { Look } from '../work.ts'

// The job by jobmill_job_id, its attempts by primary key: at most 32.
const HISTORY = `
  SELECT a.attempt, a.token, a.instance, a.started_at, a.ended_at, a.outcome, a.error, a.log
  FROM jobmill_job AS j CROSS JOIN jobmill_attempt AS a ON a.job_pk = j.pk WHERE j.id = ? ORDER BY a.token`

interface AttemptRow {
  readonly attempt: number
  readonly token: number
  readonly instance: string | null
  readonly started_at: number | null
  readonly ended_at: number
  readonly outcome: number
  readonly error: string | null
  readonly log: string | null
}

export function history({ sql }: Look, id: string): AttemptRecord[] {
  return (sql(HISTORY).all(id) as AttemptRow[]).map((row) => ({
    attempt: row.attempt,
    // The job was cancelled while waiting: there was no lease, and the stored token only keeps the order.
    token: row.instance === null ? 0 : row.token,
    instance: row.instance,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    outcome: outcomeOfCode(row.outcome),
    error: row.error,
    log: row.log,
  }))
}
