/**
 * The two statements of an acquire: one locks and reads everything it needs, the other writes all changes.
 */
import { GIVEN_CTE, HAS_PERMIT, NOW, NOW_AGAIN } from '../fragments.ts'
import { LIMIT_COLUMNS } from './limit-rows.ts'

/**
 * Uses primary keys. `sought` are the items that need a permit according to this snapshot. `locked` locks in
 * the order of the names and keys to avoid deadlocks. Its condition forces the locks on jobs and instances to
 * come first. An open transaction may be finishing such a job, and then only this call must wait for it,
 * without holding limits. Only their holders write waiter rows, so the snapshot is recent enough for them.
 * The row of a per-key limit itself is never acquired from.
 */
export const LOCK_ACQUIRE = `
WITH ${GIVEN_CTE}, input AS MATERIALIZED (
  SELECT x.* FROM given, json_to_recordset(p -> 'items') AS x(limit_name text, key text, holder uuid, instance uuid, token int8)
), sought AS MATERIALIZED (
  SELECT i.* FROM input AS i JOIN jobmill.limit AS l ON l.name = i.limit_name AND l.key = i.key WHERE l.most IS NOT NULL
), job AS MATERIALIZED (
  SELECT r.id, r.token FROM jobmill.running AS r
   WHERE r.id = ANY (ARRAY(SELECT holder FROM sought WHERE token IS NOT NULL)) ORDER BY r.id FOR NO KEY UPDATE
), living AS MATERIALIZED (
  SELECT i.id FROM jobmill.instance AS i
   WHERE i.id = ANY (ARRAY(SELECT instance FROM sought WHERE token IS NULL)) AND i.ended_at IS NULL AND i.expires_at > ${NOW}
   ORDER BY i.id FOR SHARE
), locked AS MATERIALIZED (
  SELECT l.* FROM (SELECT DISTINCT limit_name, key FROM input ORDER BY limit_name, key) AS i CROSS JOIN LATERAL (
    SELECT l.* FROM jobmill.limit AS l WHERE l.name = i.limit_name AND l.key = i.key
       AND NOT l.per_key AND (SELECT count(*) FROM job) + (SELECT count(*) FROM living) >= 0 FOR UPDATE) AS l
)
SELECT ${LIMIT_COLUMNS}, ${NOW_AGAIN} AS now, l.key = '' AND l.name = ANY (ARRAY(SELECT limit_name FROM sought)) AS was_sought,
       (SELECT json_agg(json_build_array(j.id, j.token)) FROM job AS j) AS jobs,
       (SELECT json_agg(v.id) FROM living AS v) AS living,
       (SELECT json_agg(t.holder) FROM jobmill.limit_waiter AS t
         WHERE t.limit_name = l.name AND t.key = l.key AND t.holder = ANY (ARRAY(SELECT holder FROM input))) AS places
  FROM locked AS l, given`

/**
 * Uses primary keys, under the locks. The amount of a permit from an earlier attempt is replaced, not added
 * to.
 */
export const WRITE_ACQUIRE = `
WITH ${GIVEN_CTE}, state AS (
  UPDATE jobmill.limit AS l SET paid_at = x.paid_at, reserved_until = x.reserved_until, drained_until = x.drained_until
    FROM given, json_to_recordset(p -> 'states') AS x(name text, key text, paid_at float8, reserved_until float8, drained_until float8)
   WHERE l.name = x.name AND l.key = x.key
), left_line AS (
  DELETE FROM jobmill.limit_waiter AS t USING given, json_to_recordset(p -> 'left') AS x(limit_name text, key text, holder uuid)
   WHERE t.limit_name = x.limit_name AND t.key = x.key AND t.holder = x.holder
), in_order_queue AS (
  INSERT INTO jobmill.limit_waiter (limit_name, key, holder, taken_at)
  SELECT x.limit_name, x.key, x.holder, ${NOW} FROM given, json_to_recordset(p -> 'placed') AS x(limit_name text, key text, holder uuid)
  ON CONFLICT (limit_name, key, holder) DO UPDATE SET taken_at = excluded.taken_at
), permit AS MATERIALIZED (
  SELECT x.* FROM given, json_to_recordset(p -> 'permits')
    AS x(limit_name text, holder uuid, instance uuid, token int8, amount int4)
), permitted AS (
  INSERT INTO jobmill.permit AS t (limit_name, holder, instance, token, amount) SELECT * FROM permit
  ON CONFLICT (limit_name, holder) DO UPDATE SET instance = excluded.instance, token = excluded.token,
     amount = excluded.amount + CASE WHEN t.token IS NOT DISTINCT FROM excluded.token THEN t.amount ELSE 0 END
)
UPDATE jobmill.running AS r SET flags = r.flags | ${HAS_PERMIT}
 WHERE r.id = ANY (ARRAY(SELECT holder FROM permit WHERE token IS NOT NULL)) AND r.flags & ${HAS_PERMIT} = 0`
