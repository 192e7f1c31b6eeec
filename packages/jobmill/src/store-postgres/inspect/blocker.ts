/** The job that a job in an order queue waits for. */
import { ask, type Context } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

/**
 * Finds its order queue by the unique index on id, then the holder of the order lock and the first job of the
 * order queue by their primary keys. Takes no locks.
 */
const BLOCKER = `
WITH ${GIVEN_CTE}, place AS MATERIALIZED (
  SELECT o.id, o.queue_id, o.order_key FROM jobmill.order_queue AS o, given WHERE o.id = (p ->> 'id')::uuid
), first AS (
  SELECT x.id AS waits, coalesce(
      (SELECT l.job_id FROM jobmill.order_lock AS l WHERE l.queue_id = x.queue_id AND l.order_key = x.order_key),
      (SELECT h.id FROM jobmill.order_queue AS h WHERE h.queue_id = x.queue_id AND h.order_key = x.order_key ORDER BY h.pos LIMIT 1)) AS id
    FROM place AS x
)
SELECT id FROM first WHERE id <> waits`

export async function blocker(context: Context, id: string): Promise<string | null> {
  const [row] = await ask<{ id: string }>(context, BLOCKER, { id })
  return row?.id ?? null
}
