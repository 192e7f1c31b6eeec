/** Why jobs wait: the ready jobs before one, the job that blocks one, and kinds without a worker. */
import { POSITION_MOST, UNSERVED_ROWS, type UnservedKind } from '../../store/types/queue-record.ts'
import { ask, type Context } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

/**
 * Finds its place by the unique index on id, then reads the primary key of `ready` from the front of the
 * queue to that place, up to a literal cap. Counts only the requested kinds, and in a fair queue only the
 * group. Takes no locks.
 */
const POSITION = `
WITH ${GIVEN_CTE}, place AS MATERIALIZED (
  SELECT r.queue_id, r.priority, r.seq FROM jobmill.ready AS r, given WHERE r.id = (p ->> 'id')::uuid
)
SELECT b.jobs FROM place AS x CROSS JOIN LATERAL (
  SELECT count(*)::int4 AS jobs FROM (
    SELECT r.kind_id FROM jobmill.ready AS r WHERE r.queue_id = x.queue_id AND (r.priority, r.seq) < (x.priority, x.seq)
       AND (x.seq >= 0 OR (r.priority, r.seq) >= (x.priority, jobmill.in_group(x.seq, 0)))
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

/**
 * Reads the front of the primary key of `ready` for each queue, up to a literal cap. Jobs without a worker
 * stay there while the rest moves past. Then compares each kind found with the live instances. One snapshot,
 * no locks.
 */
const UNSERVED_KINDS = `
WITH ${GIVEN_CTE}, alive AS MATERIALIZED (
  SELECT i.queues, i.kinds FROM jobmill.instance AS i, given AS g WHERE i.ended_at IS NULL AND i.expires_at > g.now
     AND i.requested IS NULL
)
SELECT q.name AS queue, split_part(k.name, '@', 1) AS kind, nullif(split_part(k.name, '@', 2), '')::int4 AS "minVersion", w.jobs
  FROM jobmill.queue AS q
 CROSS JOIN LATERAL (
   SELECT f.kind_id, count(*)::int4 AS jobs FROM (
     SELECT r.kind_id FROM jobmill.ready AS r WHERE r.queue_id = q.id ORDER BY r.priority, r.seq LIMIT ${UNSERVED_ROWS}) AS f
    GROUP BY f.kind_id) AS w
  JOIN jobmill.kind AS k ON k.id = w.kind_id
 WHERE NOT EXISTS (SELECT FROM alive AS a WHERE q.name = ANY (a.queues) AND k.name = ANY (a.kinds))
 ORDER BY q.name COLLATE "C", k.name COLLATE "C"`

export function unservedKinds(context: Context): Promise<UnservedKind[]> {
  return ask(context, UNSERVED_KINDS)
}
