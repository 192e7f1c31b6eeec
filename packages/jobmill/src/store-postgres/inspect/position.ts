/** How many ready jobs would be claimed before a given one. */
import { POSITION_MOST } from '../../store/types/queue-record.ts'
import { ask, type Context } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

/**
 * Finds its place by the unique index on id, then reads the primary key of `ready` from the front of the
 * queue to that place, up to a literal cap. Counts only the requested kinds. Takes no locks.
 */
const POSITION = `
WITH ${GIVEN_CTE}, place AS MATERIALIZED (
  SELECT r.queue_id, r.priority, r.seq FROM jobmill.ready AS r, given WHERE r.id = (p ->> 'id')::uuid
)
SELECT b.jobs FROM place AS x CROSS JOIN LATERAL (
  SELECT count(*)::int4 AS jobs FROM (
    SELECT r.kind_id FROM jobmill.ready AS r WHERE r.queue_id = x.queue_id AND (r.priority, r.seq) < (x.priority, x.seq)
     ORDER BY r.priority, r.seq LIMIT ${POSITION_MOST}) AS f, given
   WHERE p -> 'kinds' IS NULL OR f.kind_id IN (
     SELECT k.id FROM json_array_elements_text(p -> 'kinds') AS n(name) JOIN jobmill.kind AS k ON k.name = n.name)) AS b`

export async function position(
  context: Context,
  id: string,
  kinds?: readonly string[],
): Promise<number | null> {
  const [row] = await ask<{ jobs: number }>(context, POSITION, { id, kinds })
  return row?.jobs ?? null
}
