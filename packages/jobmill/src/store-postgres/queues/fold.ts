/** Merges tally rows into totals. SKIP LOCKED lets concurrent folds take different rows. */
import { askOne, type Context } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

const foldStatement = (limit: number): string => `
WITH ${GIVEN_CTE}, gone AS (
  DELETE FROM jobmill.tally WHERE ctid = ANY (ARRAY(SELECT ctid FROM jobmill.tally LIMIT ${limit} FOR UPDATE SKIP LOCKED))
  RETURNING *
), sums AS (
  SELECT queue_id, state, sum(n) AS n FROM (
    SELECT queue_id, from_state AS state, -n AS n FROM gone WHERE from_state IS NOT NULL
    UNION ALL SELECT queue_id, to_state, n FROM gone WHERE to_state IS NOT NULL) AS moves
   GROUP BY queue_id, state
), folded AS (
  INSERT INTO jobmill.total AS t (queue_id, state, n) SELECT queue_id, state, n FROM sums ORDER BY queue_id, state
  ON CONFLICT (queue_id, state) DO UPDATE SET n = t.n + excluded.n
)
SELECT count(*)::int4 AS folded FROM gone`

export async function fold(context: Context, limit: number): Promise<number> {
  return (await askOne<{ folded: number }>(context, foldStatement(limit))).folded
}
