/** Reads the failures of jobs' last attempts. */
import { outcomeCode, outcomeOfCode } from '../../job/attempt/outcome.ts'
import { STATE_CODE } from '../../job/state.ts'
import type { JobFailure } from '../../store/types/job-record.ts'
import { ask, type Context } from '../context.ts'
import { GIVEN_CTE, INPUT_IDS } from '../fragments.ts'

const FAILED = ['failed', 'timed-out', 'failed-permanently'] as const
export const FAILED_OUTCOMES = FAILED.map((outcome) => outcomeCode(outcome)).join(', ')

/**
 * Reads the newest attempt of each job by the primary key, backward. Attempts are deleted with their job, so
 * no other table is needed. Takes no locks.
 */
const FAILURES = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT w.id, a.error, a.ended_at AS at, a.outcome
  FROM (SELECT DISTINCT id FROM input) AS w
 CROSS JOIN LATERAL (SELECT t.error, t.ended_at, t.outcome, t.ended_as FROM jobmill.attempt AS t
                      WHERE t.job_id = w.id ORDER BY t.token DESC LIMIT 1) AS a
 WHERE a.ended_as = ${STATE_CODE.dead} OR a.outcome IN (${FAILED_OUTCOMES})`

type FailureRow = Omit<JobFailure, 'outcome'> & { readonly id: string; readonly outcome: number }

export async function failures(context: Context, ids: readonly string[]): Promise<(JobFailure | null)[]> {
  if (ids.length === 0) return []
  const rows = await ask<FailureRow>(context, FAILURES, { ids })
  const found = new Map(
    rows.map(({ id, outcome, ...row }) => [id, { ...row, outcome: outcomeOfCode(outcome) }]),
  )
  return ids.map((id) => found.get(id) ?? null)
}
