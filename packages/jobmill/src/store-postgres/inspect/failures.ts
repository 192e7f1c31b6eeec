/** Reads the failures of jobs' last attempts. */
import { outcomeCode, outcomeOfCode } from '../../job/attempt/outcome.ts'
import { STATE_CODE } from '../../job/state.ts'
import type { JobFailure } from '../../store/types/job-record.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE, INPUT_IDS } from '../fragments.ts'
import { idsField } from '../operate/states.ts'

export const FAILED_OUTCOMES = [
  outcomeCode('failed'),
  outcomeCode('timed-out'),
  outcomeCode('failed-permanently'),
].join(', ')

/**
 * Reads the newest attempt of each job by the primary key, backward. Attempts are deleted with their job, so
 * no other table is needed. Takes no locks.
 */
const FAILURES = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT w.id, a.error, a.ended_at, a.outcome
  FROM (SELECT DISTINCT id FROM input) AS w
 CROSS JOIN LATERAL (SELECT t.error, t.ended_at, t.outcome, t.ended_as FROM jobmill.attempt AS t
                      WHERE t.job_id = w.id ORDER BY t.token DESC LIMIT 1) AS a
 WHERE a.ended_as = ${STATE_CODE.dead} OR a.outcome IN (${FAILED_OUTCOMES})`

export async function failures(context: Context, ids: readonly string[]): Promise<(JobFailure | null)[]> {
  if (ids.length === 0) return []
  const rows = await run(context, context.connection.query, FAILURES, idsField(ids))
  const found = new Map(
    rows.map((row): [string, JobFailure] => [
      row['id'] as string,
      {
        error: row['error'] as string | null,
        at: row['ended_at'] as number,
        outcome: outcomeOfCode(row['outcome'] as number),
      },
    ]),
  )
  return ids.map((id) => found.get(id) ?? null)
}
