/** Reads where and when attempts ran. */
import { outcomeOfCode } from '../../job/attempt/outcome.ts'
import type { AttemptRun } from '../../store/types/job-record.ts'
import { ask, type Context } from '../context.ts'
import { GIVEN_CTE, INPUT_IDS } from '../fragments.ts'

/**
 * Reads the attempts of each job by the primary key, at most 32 for each. Attempts are deleted with their
 * job, so no other table is needed. Takes no locks.
 */
const RUNS = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT w.id, a.attempt, a.instance, a.started_at AS "startedAt", a.ended_at AS "endedAt", a.outcome
  FROM (SELECT DISTINCT id FROM input) AS w
 CROSS JOIN LATERAL (SELECT * FROM jobmill.attempt AS t WHERE t.job_id = w.id) AS a
 WHERE a.ended_at >= (SELECT (p ->> 'endedFrom')::int8 FROM given)
   AND a.instance IS NOT NULL AND a.started_at IS NOT NULL
 ORDER BY a.ended_at, w.id, a.token`

type RunRow = Omit<AttemptRun, 'outcome'> & { readonly outcome: number }

export async function runs(
  context: Context,
  ids: readonly string[],
  endedFrom: number,
): Promise<AttemptRun[]> {
  if (ids.length === 0) return []
  const rows = await ask<RunRow>(context, RUNS, { ids, endedFrom })
  return rows.map((row) => ({ ...row, outcome: outcomeOfCode(row.outcome) }))
}
