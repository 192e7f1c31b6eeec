/** limited reads the limits of queues, for claims and heartbeats. */
import { PLANNED_ONCE } from './pieces.ts'

/** The first job of the queue `q` that a claim would take, read from the index that claims use. */
const firstReady = (crashes: string): string => `
    SELECT true AS found FROM jobmill.ready AS r
     WHERE r.queue_id = q.id AND r.crashes ${crashes} AND r.kind_id = ANY (kind_ids)
     ORDER BY r.queue_id, r.priority, r.seq LIMIT 1`

/**
 * Those of the given queues that have a limit and a ready job, with the state of the limit. Takes no locks.
 * Looks up each queue and limit individually, because a join could be planned as a scan of all keys of
 * limits.
 */
export const LIMITED = `
CREATE FUNCTION jobmill.limited(queue_ids int4[], kind_ids int4[]) RETURNS json
LANGUAGE plpgsql VOLATILE ${PLANNED_ONCE} AS $$
BEGIN
  RETURN (SELECT coalesce(json_agg(x), '[]') FROM (
    SELECT q.name AS queue, l.name, l.key, l.amount, l.per_ms, l.burst, l.most, l.per_key, l.paid_at, l.reserved_until, l.drained_until,
           (SELECT coalesce(sum(t.amount), 0)::int8 FROM jobmill.permit AS t WHERE t.limit_name = l.name AND l.most IS NOT NULL) AS held,
           a.found IS TRUE AS ready, b.found IS TRUE AS quarantined
      FROM unnest(queue_ids) AS w(id)
     CROSS JOIN LATERAL (SELECT * FROM jobmill.queue WHERE queue.id = w.id LIMIT 1) AS q
     CROSS JOIN LATERAL (SELECT * FROM jobmill.limit AS o WHERE o.name = q.limit_name AND o.key = '' LIMIT 1) AS l
      LEFT JOIN LATERAL (${firstReady('< 2')}) AS a ON true
      LEFT JOIN LATERAL (${firstReady('>= 2')}) AS b ON true
     WHERE a.found OR b.found) AS x);
END $$;`
