/** Reads the states and results of awaited jobs. */
import { STATE_CODE, stateOfCode } from '../../job/state.ts'
import type { JobResult } from '../../store/types/job-record.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE, INPUT_IDS } from '../fragments.ts'
import { idsField } from '../operate/states.ts'

const { scheduled, ready, running } = STATE_CODE
const isIn = (table: string): string => `EXISTS (SELECT FROM jobmill.${table} AS t WHERE t.id = w.id)`

/**
 * A job is in one of the small tables or has an attempt that ended it, so its own row with the payload is not
 * read. Each lookup uses an index on the id, in one snapshot. A job in none of these tables does not exist.
 */
const RESULTS = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT s.id, s.state, a.error, CASE WHEN a.ended_as IS NOT NULL THEN a.result END AS result
  FROM (SELECT DISTINCT id FROM input) AS w
  LEFT JOIN LATERAL (SELECT * FROM jobmill.attempt AS t WHERE t.job_id = w.id ORDER BY t.token DESC LIMIT 1) AS a ON true
 CROSS JOIN LATERAL (SELECT w.id, CASE
         WHEN a.ended_as IS NOT NULL THEN a.ended_as
         WHEN ${isIn('running')} THEN ${running} WHEN ${isIn('ready')} THEN ${ready}
         WHEN ${isIn('later')} OR ${isIn('order_queue')} THEN ${scheduled} END AS state) AS s
 WHERE s.state IS NOT NULL`

export async function results(context: Context, ids: readonly string[]): Promise<(JobResult | null)[]> {
  if (ids.length === 0) return []
  const rows = await run(context, context.connection.query, RESULTS, idsField(ids))
  const found = new Map(
    rows.map((row): [string, JobResult] => [
      row['id'] as string,
      {
        id: row['id'] as string,
        state: stateOfCode(row['state'] as number),
        result: row['result'] as string | null,
        error: row['error'] as string | null,
      },
    ]),
  )
  return ids.map((id) => found.get(id) ?? null)
}
