/** record_steps records steps of running attempts, fenced by the row in `running`. */
import { GIVEN_CTE, HAS_STEPS, NOW } from '../../fragments.ts'
import { PLANNED_ONCE } from './pieces.ts'

/** `lock`: in the order of the ids, so that no two calls wait for each other. */
export const inputFor = (lock: string): string => `input AS MATERIALIZED (
  SELECT x.* FROM given, json_to_recordset(p -> 'steps') AS x(
    n int4, id uuid, token int8, name text, place int4, kind int2, done bool, result text, checkpoint text, ran_ms int8)
), held AS MATERIALIZED (
  SELECT r.id, r.token, r.flags, r.attempt FROM jobmill.running AS r
   WHERE r.id = ANY (ARRAY(SELECT id FROM input)) AND EXISTS (SELECT FROM input AS i WHERE i.id = r.id AND i.token = r.token)
   ORDER BY r.id ${lock}
)`

/**
 * The lock is the fence: a process that takes the job back deletes its row first. The first recorded step
 * marks the job, and resets the number of its attempt.
 */
const MARKED = `, marked AS (
  UPDATE jobmill.running AS r SET flags = r.flags | ${HAS_STEPS}, attempt = CASE WHEN m.resets THEN 1 ELSE r.attempt END
    FROM (SELECT h.id, bool_or(i.done) AS resets FROM held AS h JOIN input AS i ON i.id = h.id AND i.token = h.token
           GROUP BY h.id, h.flags, h.attempt HAVING h.flags & ${HAS_STEPS} = 0 OR (bool_or(i.done) AND h.attempt <> 1)) AS m
   WHERE r.id = m.id
)`

/** A done step never changes. */
export const WRITTEN = `, written AS (
  INSERT INTO jobmill.step AS s (job_id, name, place, kind, token, started_at, ended_at, result, checkpoint)
  SELECT i.id, i.name, i.place, i.kind, i.token, ${NOW} - i.ran_ms, CASE WHEN i.done THEN ${NOW} END, i.result, i.checkpoint
    FROM input AS i JOIN held AS h ON h.id = i.id AND h.token = i.token
  ON CONFLICT (job_id, name) DO UPDATE
     SET ended_at = excluded.ended_at, result = excluded.result, checkpoint = coalesce(excluded.checkpoint, s.checkpoint)
   WHERE s.ended_at IS NULL
)
SELECT i.n FROM input AS i JOIN held AS h ON h.id = i.id AND h.token = i.token`

/**
 * Returns the numbers of the steps whose token holds the lease. Nested loops over the steps of 64 jobs would
 * compare each with all others, so it joins them with hashes.
 */
export const RECORD_STEPS = `
CREATE FUNCTION jobmill.record_steps(given_fields text) RETURNS SETOF int4
LANGUAGE plpgsql VOLATILE ${PLANNED_ONCE} SET enable_hashjoin = on AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY WITH ${GIVEN_CTE}, ${inputFor('FOR NO KEY UPDATE')}${MARKED}${WRITTEN};
END $$;
`
