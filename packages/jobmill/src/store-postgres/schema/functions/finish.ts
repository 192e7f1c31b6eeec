/** finish ends attempts. It leaves those that need more than a row in `attempt` to finish_each. */
import { STATE_CODE } from '../../../job/state.ts'
import { DELETE_EMPTY, FORGET, HASHED_ONCE, LIST, NOW } from './pieces.ts'

const ITEMS = `ROWS FROM (unnest(ids), unnest(tokens), unnest(ran_for), ${LIST('results')}) AS i(id, token, ran_ms, result)`

/**
 * Ends the jobs `i` of a batch `b`. `join` and `where` find the members of the batch: one by one for a few
 * jobs, because unnesting the batch takes as long as ending ten jobs.
 */
const kept = (join: string, where: string): string => `WITH recorded AS (
            INSERT INTO jobmill.attempt (job_id, token, instance, started_at, ended_at, queue_id, attempt, spent, crashes, outcome, ended_as, tries, result)
            SELECT i.id, b.token, b.instance, greatest(b.started_at, at - coalesce(i.ran_ms, at)), at, b.queue_id, 1, 1, 0, 0, 3, 1, i.result::json
              FROM ${ITEMS} ${join}
             WHERE i.token = b.token AND NOT i.id = ANY (gone_ids) ${where}
            RETURNING job_id
          ) SELECT array_agg(d.job_id) INTO matched FROM recorded AS d;`
const forgotten = (join: string, where: string): string => `SELECT array_agg(i.id) INTO matched
            FROM unnest(ids, tokens) AS i(id, token) ${join}
           WHERE i.token = b.token AND NOT i.id = ANY (gone_ids) ${where}
             AND NOT i.id = ANY (ARRAY(SELECT a.job_id FROM jobmill.attempt AS a WHERE a.job_id = ANY (ids) AND a.token = b.token));`
const FEW = ['', 'AND i.id = ANY (members)'] as const
const MANY = ['JOIN unnest(members) AS m(id) ON m.id = i.id', ''] as const

/**
 * Ends attempts. docs/internals/postgres-store.md explains the locks. `ids` and the lists next to it are
 * attempts that returned, of jobs that are all kept, or all deleted (`forget`). `rare` has all others.
 *
 * 1. finish_each ends the attempts in `rare`. They come first, because they lock their batches exclusively,
 *    and the given ones with them, so that all calls lock in one order.
 * 2. Jobs in one of the given `batches` end without a row in `running`. The lock keeps `gone` of a batch
 *    unchanged until the commit. With `forget` it is exclusive, because the call itself changes `gone`. The
 *    locks are released if a job has ended before, which violates a unique key. They are also released if no
 *    job is in a batch: a transaction of the user may have unpacked it, and step 3 waits for that. Null
 *    `batches` stand for a transaction of several statements, which must not lock any.
 * 3. All other jobs end by the delete from `running`, which is the fence: it finds a row with this id and
 *    token, or nothing. It skips jobs with a dedupe key, an order lock, a permit or a long history.
 * 4. finish_each ends or explains what is left. It does not unpack the batches that are locked here.
 *
 * Returns null if all ended as done here, and otherwise a JSON list of what finish_each returned.
 */
export const FINISH = `
CREATE FUNCTION jobmill.finish(
  given_now int8, ids uuid[], tokens int8[], ran_for int8[], results text, forget bool, rare text, longest int4, batches int8[], emptied int8[])
RETURNS text
LANGUAGE plpgsql VOLATILE ${HASHED_ONCE} AS $$
DECLARE
  at int8 := ${NOW};
  told json[];
  b jobmill.batch;
  locked refcursor;
  members uuid[];
  gone_ids uuid[];
  matched uuid[];
  ended uuid[];
  tried uuid[];
  tagged uuid[];
  their_tags text[];
BEGIN
  IF rare IS NOT NULL THEN
    told := told || jobmill.finish_each(at, rare::json, longest, CASE WHEN batches IS NOT NULL THEN '{}'::int8[] END, batches);
    IF ids = '{}' THEN RETURN to_json(told); END IF;
  END IF;
  IF batches <> '{}' THEN
    BEGIN
      IF forget THEN
        OPEN locked FOR SELECT * FROM jobmill.batch AS h WHERE h.token = ANY (batches) ORDER BY h.token, h.queue_id FOR NO KEY UPDATE;
      ELSE
        OPEN locked FOR SELECT * FROM jobmill.batch AS h WHERE h.token = ANY (batches) ORDER BY h.token, h.queue_id FOR SHARE;
      END IF;
      LOOP
        FETCH locked INTO b;
        EXIT WHEN NOT FOUND;
        members := b.ids;
        gone_ids := b.gone;
        IF forget AND cardinality(ids) < 50 THEN
          ${forgotten(...FEW)}
        ELSIF forget THEN
          ${forgotten(...MANY)}
        ELSIF cardinality(ids) < 50 THEN
          ${kept(...FEW)}
        ELSE
          ${kept(...MANY)}
        END IF;
        IF matched IS NOT NULL THEN
          INSERT INTO jobmill.tally (queue_id, from_state, to_state, n) VALUES (b.queue_id, 2, CASE WHEN NOT forget THEN 3 END, cardinality(matched));
          IF forget THEN
            UPDATE jobmill.batch AS h SET gone = h.gone || matched WHERE h.token = b.token AND h.queue_id = b.queue_id;
          END IF;
        END IF;
        ended := ended || matched;
      END LOOP;
      CLOSE locked;
      IF ended IS NULL THEN RAISE unique_violation; END IF;
    EXCEPTION WHEN unique_violation THEN
      ended := NULL;
      batches := '{}';
    END;
  END IF;
  IF cardinality(ended) = cardinality(ids) THEN
    NULL;
  ELSIF forget THEN
    WITH gone AS (
      DELETE FROM jobmill.running AS r USING unnest(ids, tokens) AS i(id, token)
       WHERE r.id = ANY (ids) AND r.id = i.id AND r.token = i.token AND r.flags = 0
      RETURNING r.id, r.queue_id, r.tries
    ), tallied AS (
      INSERT INTO jobmill.tally (queue_id, from_state, n) SELECT g.queue_id, 2, count(*) FROM gone AS g GROUP BY 1
    )
    SELECT ended || array_agg(g.id), array_agg(g.id) FILTER (WHERE g.tries > 1) INTO ended, tried FROM gone AS g;
  ELSE
    WITH gone AS (
      DELETE FROM jobmill.running AS r USING ${ITEMS}
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
    SELECT ended || array_agg(g.id) INTO ended FROM gone AS g;
  END IF;
  IF forget THEN
    ${FORGET('ended', 'tried')}
  END IF;
  IF emptied IS NOT NULL THEN
    ${DELETE_EMPTY('emptied')}
  END IF;
  IF ended IS NULL OR cardinality(ended) < cardinality(ids) THEN
    told := told || jobmill.finish_each(at, (
      SELECT json_agg(json_build_object('id', i.id, 'token', i.token, 'to_state', ${STATE_CODE.done}, 'outcome', 0, 'ran_ms', i.ran_ms,
                                        'has_result', i.result IS NOT NULL, 'result', i.result::json, 'forget', forget))
        FROM ${ITEMS} LEFT JOIN unnest(ended) AS e(id) ON e.id = i.id WHERE e.id IS NULL), longest, batches, '{}');
  END IF;
  RETURN to_json(told);
END $$;`
