/** finish_done and forget_done move jobs from running to done. */
import { LIST, NOW, HASHED_ONCE } from './pieces.ts'

const LEFT_OVER = `IF cardinality(ended) = cardinality(ids) THEN RETURN NULL; END IF;
  RETURN array_to_string(ARRAY(SELECT unnest(ids) EXCEPT SELECT unnest(ended)), ',');`

/**
 * Moves jobs from running to done that have no dedupe key, order lock or permit, and whose history is not too
 * long. The delete is the fence: it finds a row with this id and token, or nothing. Returns the ids that it
 * did not end, which take the general path; null if it ended all.
 */
export const FINISH_DONE = `
CREATE FUNCTION jobmill.finish_done(given_now int8, ids uuid[], tokens int8[], ran_for int8[], results text, longest int4) RETURNS text
LANGUAGE plpgsql VOLATILE ${HASHED_ONCE} AS $$
DECLARE
  at int8 := ${NOW};
  ended uuid[];
BEGIN
  WITH gone AS (
    DELETE FROM jobmill.running AS r
     USING ROWS FROM (unnest(ids), unnest(tokens), unnest(ran_for), ${LIST('results')}) AS i(id, token, ran_ms, result)
     WHERE r.id = ANY (ids) AND r.id = i.id AND r.token = i.token AND r.flags = 0 AND r.tries <= longest
    RETURNING r.id, r.token, r.instance, r.started_at, r.queue_id, r.attempt, r.crashes, r.tries, r.log, i.ran_ms, i.result
  ), recorded AS (
    INSERT INTO jobmill.attempt (job_id, token, instance, started_at, ended_at, queue_id, attempt, spent, crashes, outcome, ended_as, tries,
                                 result, log)
    SELECT g.id, g.token, g.instance, greatest(g.started_at, at - coalesce(g.ran_ms, at)), at, g.queue_id, g.attempt, g.attempt, g.crashes, 0, 3,
           g.tries, g.result::json, g.log
      FROM gone AS g
  ), tallied AS (
    INSERT INTO jobmill.tally (queue_id, from_state, to_state, n) SELECT g.queue_id, 2, 3, count(*) FROM gone AS g GROUP BY 1
  )
  SELECT array_agg(g.id) INTO ended FROM gone AS g;
  ${LEFT_OVER}
END $$;`

/**
 * Like finish_done, but also deletes the jobs. Looks for tags and attempts only for jobs that can have them.
 */
export const FORGET_DONE = `
CREATE FUNCTION jobmill.forget_done(ids uuid[], tokens int8[]) RETURNS text LANGUAGE plpgsql VOLATILE ${HASHED_ONCE} AS $$
DECLARE
  ended uuid[];
  tried uuid[];
  tagged uuid[];
  their_tags text[];
BEGIN
  WITH gone AS (
    DELETE FROM jobmill.running AS r USING unnest(ids, tokens) AS i(id, token)
     WHERE r.id = ANY (ids) AND r.id = i.id AND r.token = i.token AND r.flags = 0
    RETURNING r.id, r.queue_id, r.tries
  ), tallied AS (
    INSERT INTO jobmill.tally (queue_id, from_state, n) SELECT g.queue_id, 2, count(*) FROM gone AS g GROUP BY 1
  )
  SELECT array_agg(g.id), array_agg(g.id) FILTER (WHERE g.tries > 1) INTO ended, tried FROM gone AS g;
  WITH removed AS (
    DELETE FROM jobmill.job AS j WHERE j.id = ANY (ended) RETURNING j.id, j.tags
  )
  SELECT array_agg(d.id), array_agg(DISTINCT t.tag) INTO tagged, their_tags
    FROM removed AS d CROSS JOIN LATERAL unnest(d.tags) AS t(tag) WHERE d.tags IS NOT NULL;
  IF tagged IS NOT NULL THEN
    DELETE FROM jobmill.job_tag AS t WHERE t.tag = ANY (their_tags) AND t.job_id = ANY (tagged);
  END IF;
  IF tried IS NOT NULL THEN
    DELETE FROM jobmill.attempt AS a WHERE a.job_id = ANY (tried);
  END IF;
  ${LEFT_OVER}
END $$;`
