/** How many ready jobs would be claimed before one. */
import { AHEAD_MOST } from '../store/queue-record.ts'
import { type Context, run } from './context.ts'
import { GIVEN } from './fragments.ts'

/** Its place by the unique index on id, then the primary key of `ready` from the front of the queue up to it, as far as a literal cap. No locks. */
const AHEAD = `
WITH ${GIVEN}, place AS MATERIALIZED (
  SELECT r.queue_id, r.priority, r.seq FROM jobmill.ready AS r, given WHERE r.id = (p ->> 'id')::uuid
)
SELECT b.jobs FROM place AS x CROSS JOIN LATERAL (
  SELECT count(*)::int4 AS jobs FROM (
    SELECT FROM jobmill.ready AS r WHERE r.queue_id = x.queue_id AND (r.priority, r.seq) < (x.priority, x.seq)
     ORDER BY r.priority, r.seq LIMIT ${AHEAD_MOST}) AS f) AS b`

export async function ahead(context: Context, id: string): Promise<number | null> {
  const [row] = await run(context, context.connection.query, AHEAD, `"id":"${id}"`)
  return row === undefined ? null : (row['jobs'] as number)
}
