/** Reads the failures of jobs' last attempts. */
import { outcomeCode, outcomeOfCode } from '../../job/attempt/outcome.ts'
import { STATE_CODE } from '../../job/state.ts'
import { type JobFailure, LOG_END } from '../../store/types/job-record.ts'
import { ask, type Context } from '../context.ts'
import { GIVEN_CTE, INPUT_IDS } from '../fragments.ts'
import { versionOf } from './versions.ts'

const FAILED = ['failed', 'timed-out', 'failed-permanently'] as const
export const FAILED_OUTCOMES = FAILED.map((outcome) => outcomeCode(outcome)).join(', ')

/**
 * Reads the newest attempt of each job by the primary key, backward, and the first failed one forward: at
 * most 32 attempts of a job. The size of a log is known without reading it. Attempts are deleted with their
 * job, so no other table is needed. Takes no locks.
 */
const FAILURES = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT w.id, a.error, a.ended_at AS at, a.outcome, ${versionOf('a.instance')} AS version,
       CASE WHEN octet_length(a.log) <= ${LOG_END.mostBytes} THEN right(a.log, ${LOG_END.chars}) END AS log_end,
       f.error AS first_error, f.ended_at AS first_at
  FROM (SELECT DISTINCT id FROM input) AS w
 CROSS JOIN LATERAL (SELECT t.token, t.error, t.ended_at, t.outcome, t.ended_as, t.instance, t.log FROM jobmill.attempt AS t
                      WHERE t.job_id = w.id ORDER BY t.token DESC LIMIT 1) AS a
  LEFT JOIN LATERAL (SELECT t.error, t.ended_at FROM jobmill.attempt AS t
                      WHERE t.job_id = w.id AND t.token < a.token AND t.outcome IN (${FAILED_OUTCOMES})
                      ORDER BY t.token LIMIT 1) AS f ON true
 WHERE a.ended_as = ${STATE_CODE.dead} OR a.outcome IN (${FAILED_OUTCOMES})`

interface FailureRow {
  readonly id: string
  readonly error: string | null
  readonly at: number
  readonly outcome: number
  readonly version: string | null
  readonly log_end: string | null
  readonly first_error: string | null
  readonly first_at: number | null
}

export async function failures(context: Context, ids: readonly string[]): Promise<(JobFailure | null)[]> {
  if (ids.length === 0) return []
  const rows = await ask<FailureRow>(context, FAILURES, { ids })
  const found = new Map(rows.map((row) => [row.id, failureOf(row)]))
  return ids.map((id) => found.get(id) ?? null)
}

function failureOf({ error, at, outcome, version, log_end, first_error, first_at }: FailureRow): JobFailure {
  return {
    error,
    at,
    outcome: outcomeOfCode(outcome),
    version,
    logEnd: log_end,
    first: first_at === null ? null : { at: first_at, error: first_error },
  }
}
