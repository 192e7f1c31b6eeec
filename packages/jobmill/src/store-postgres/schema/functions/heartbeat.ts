/**
 * The heartbeat, which an idle process sends continuously. A function, because parsing and planning each call
 * took longer than running it.
 */
import { NEVER_DUE } from '../../../store/types/step.ts'
import { PLANNED_ONCE } from './pieces.ts'

const KIND_IDS = `ARRAY(SELECT k.id FROM given, json_array_elements_text(p -> 'kinds') AS v(name), jobmill.kind AS k WHERE k.name = v.name)`

/**
 * Takes over vacant duties, and renews its own when the heartbeat writes its row. Reads first; if two
 * instances bid at once, the conflict decides: the second waits and finds the lease of the first. Uses the
 * order of the names to avoid deadlocks.
 */
const DUTIES_LED = `bid AS MATERIALIZED (
  SELECT x.name, x.failures, g.now - x.ago_ms AS succeeded_at, d.leader IS NULL OR d.expires_at <= g.now AS is_vacant,
         d.leader = me.id AND d.expires_at > g.now AS is_mine
    FROM given AS g CROSS JOIN me CROSS JOIN json_to_recordset(g.p -> 'duties') AS x(name text, ago_ms int8, failures int8)
    LEFT JOIN jobmill.duty AS d ON d.name = x.name
   WHERE me.alive AND me.requested IS DISTINCT FROM 'stop'
), led AS (
  INSERT INTO jobmill.duty AS d (name, leader, expires_at, last_success_at, failures)
  SELECT b.name, me.id, g.now + (g.p ->> 'lease_ms')::int8, b.succeeded_at, b.failures FROM given AS g, me, bid AS b
   WHERE b.is_vacant OR (b.is_mine AND me.renewed) ORDER BY b.name
  ON CONFLICT (name) DO UPDATE SET leader = excluded.leader, expires_at = excluded.expires_at,
     last_success_at = coalesce(excluded.last_success_at, d.last_success_at), failures = excluded.failures
   WHERE d.leader IS NULL OR d.leader = excluded.leader OR d.expires_at <= (SELECT now FROM given)
  RETURNING d.name
)`

/** The ids of the queues in the parameter, in order; null for those that a claim would skip. */
const QUEUE_IDS = `ARRAY(SELECT o.queue_id FROM given, json_array_elements_text(p -> 'queues') WITH ORDINALITY AS w(queue, n)
  LEFT JOIN open AS o ON o.name = w.queue AND o.limit_name IS NULL ORDER BY w.n)`

/**
 * Writes rows only if the renewal is due or a duty is vacant; otherwise it only reads. Each part is one index
 * lookup. If a renewal was due but found no row, the reaper was faster, whatever the older snapshot of the
 * rest says.
 */
export const HEARTBEAT = `
CREATE FUNCTION jobmill.heartbeat(parameter text)
RETURNS TABLE (now int8, alive bool, cancels json, settings_version int8, members_version int8, leads json, slots json, look json, quarantined bool,
               limited json, stage_in_ms int8, next_due int8, due_ms float8, schedule_in_ms int8, expired bool, unrolled bool,
               requested text, requested_by text)
LANGUAGE plpgsql VOLATILE ROWS 1 ${PLANNED_ONCE} AS $$
#variable_conflict use_column
BEGIN RETURN QUERY
WITH given AS MATERIALIZED (
  SELECT s.p, coalesce((s.p ->> 'now')::int8, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8) AS now
    FROM (SELECT parameter::json AS p) AS s
), renewed AS (
  UPDATE jobmill.instance AS i SET renewed_at = g.now, expires_at = g.now + (g.p ->> 'lease_ms')::int8
    FROM given AS g
   WHERE i.id = (g.p ->> 'instance')::uuid AND i.ended_at IS NULL
     AND (i.renewed_at <= g.now - (g.p ->> 'every_ms')::int8 OR i.expires_at <= g.now)
  RETURNING i.requested, i.requested_by
), mine AS MATERIALIZED (
  SELECT true AS renewed, r.requested, r.requested_by FROM renewed AS r
  UNION ALL
  SELECT false, i.requested, i.requested_by FROM given AS g, jobmill.instance AS i
   WHERE NOT EXISTS (SELECT FROM renewed) AND i.id = (g.p ->> 'instance')::uuid AND i.ended_at IS NULL
     AND i.renewed_at > g.now - (g.p ->> 'every_ms')::int8 AND i.expires_at > g.now
), me AS MATERIALIZED (
  SELECT (g.p ->> 'instance')::uuid AS id, coalesce(m.renewed, false) AS renewed, m.renewed IS NOT NULL AS alive,
         m.requested, m.requested_by
    FROM given AS g LEFT JOIN mine AS m ON true
), open AS MATERIALIZED (
  SELECT q.id AS queue_id, q.name, q.limit_name
    FROM given AS g, json_array_elements_text(g.p -> 'queues') AS w(queue), jobmill.queue AS q
   WHERE q.name = w.queue AND NOT q.paused AND q.cool_until <= g.now
), ${DUTIES_LED}, look AS MATERIALIZED (
  SELECT i.open, a.* FROM given AS g, (SELECT ${QUEUE_IDS} AS open) AS i, jobmill.any_ready(i.open, ${KIND_IDS},
    (g.p ->> 'range_queues')::int4[], (g.p ->> 'range_priorities')::int4[], (g.p ->> 'range_seqs')::int8[], (g.p ->> 'range_ends')::int4[]) AS a
)
SELECT g.now, me.alive,
       (SELECT json_agg(json_build_object('id', r.id, 'token', r.token, 'reason', r.cancel_reason) ORDER BY r.id)
          FROM jobmill.running AS r WHERE r.instance = me.id AND r.cancel_reason IS NOT NULL),
       (SELECT max(version) FROM jobmill.settings),
       (SELECT max(version) FROM jobmill.members),
       (SELECT json_agg(l.name ORDER BY l.name COLLATE "C") FROM (
          SELECT name FROM led UNION ALL SELECT b.name FROM bid AS b, me WHERE b.is_mine AND NOT me.renewed) AS l),
       (SELECT json_agg(json_build_object('queue', q.name, 'workers', s.workers) ORDER BY q.name COLLATE "C")
          FROM jobmill.slot AS s JOIN jobmill.queue AS q ON q.id = s.queue_id WHERE s.instance = me.id),
       (SELECT row_to_json(l) FROM look AS l),
       EXISTS (SELECT FROM open AS o CROSS JOIN LATERAL (
         SELECT FROM jobmill.ready AS r WHERE r.queue_id = o.queue_id AND r.crashes >= 2 AND r.kind_id = ANY (${KIND_IDS})
          ORDER BY r.priority, r.seq LIMIT 1) AS r WHERE o.limit_name IS NULL),
       CASE WHEN EXISTS (SELECT FROM open WHERE limit_name IS NOT NULL)
            THEN jobmill.limited(ARRAY(SELECT queue_id FROM open WHERE limit_name IS NOT NULL), ${KIND_IDS}) END,
       CASE WHEN EXISTS (SELECT FROM jobmill.order_check) OR EXISTS (SELECT FROM jobmill.wake) THEN 0
            ELSE (SELECT min(greatest(t.at - g.now, 0)) FROM (VALUES (CASE WHEN next_due.due_at < ${NEVER_DUE} THEN next_due.due_at END), ((
              SELECT d.check_at FROM jobmill.job_group AS d WHERE d.check_at IS NOT NULL ORDER BY d.check_at LIMIT 1))) AS t(at) WHERE t.at IS NOT NULL) END,
       next_due.due_at, next_due.ms,
       (SELECT CASE WHEN NOT s.planned THEN 0 WHEN s.next_at IS NOT NULL THEN greatest(s.next_at - g.now, 0) END
          FROM jobmill.schedule AS s WHERE NOT s.paused AND NOT s.deleted ORDER BY s.planned, s.next_at LIMIT 1),
       EXISTS (SELECT FROM jobmill.instance AS i WHERE i.ended_at IS NULL AND i.expires_at <= g.now AND i.id <> me.id)
       OR EXISTS (SELECT FROM jobmill.running AS r
                   WHERE r.instance = ANY (ARRAY(SELECT i.id FROM jobmill.instance AS i WHERE i.ended_at IS NOT NULL)))
       OR EXISTS (SELECT FROM jobmill.batch AS b
                   WHERE b.instance = ANY (ARRAY(SELECT i.id FROM jobmill.instance AS i WHERE i.ended_at IS NOT NULL))),
       EXISTS (SELECT FROM jobmill.tally) OR EXISTS (SELECT FROM jobmill.metric_delta),
       me.requested, me.requested_by
  FROM given AS g, me, jobmill.next_due((SELECT (p ->> 'since')::int8 FROM given)) AS next_due;
END $$;`
