/** Finds kinds with ready jobs that no live instance serves in their queue. */
import { type UnservedKind, UNSERVED_ROWS } from '../../store/types/queue-record.ts'
import { ask, type Context } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

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
