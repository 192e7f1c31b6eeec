/** finish_each ends attempts with any outcome, of jobs that may have rows in other tables. */
import { outcomeCode } from '../../../job/attempt/outcome.ts'
import { STATE_CODE } from '../../../job/state.ts'
import {
  FREED,
  freedFor,
  GROUP_MARK,
  HAS_PASSED,
  NOW,
  PERMITS_FREED,
  queueName,
  slotsFreed,
  waitsAgain,
  WITHOUT_PERMIT,
} from '../../fragments.ts'
import { FORGET } from './pieces.ts'
import { parkedMs, waitsForOthers } from './wait-for.ts'

const { scheduled, ready, running, done, cancelled } = STATE_CODE

/**
 * First moves jobs of batches to `running`, except those in the batches `but`, or none if that is null. Locks
 * the rows of the other jobs before the batches, because it may wait for a transaction of the user that
 * deletes them. Also locks the batches `with_batches`, so that all batches are locked in one order.
 *
 * `gone` has the rows removed from `running`, each with the next state of the job. A requested cancel
 * overrides every state except done. Concurrent finishes of one row wait for each other, and the second finds
 * nothing. A separate statement then looks for the earlier finish, because the snapshot of the first one may
 * be older than that. With `forget`, a missing job was deleted by an earlier finish.
 *
 * Runs with the settings of finish, its only caller.
 */
export const FINISH_EACH = `
CREATE FUNCTION jobmill.finish_each(at int8, items json, longest int4, but int8[], with_batches int8[]) RETURNS json
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  packed uuid[];
  packed_as int8[];
  moved json;
  freed_queues json;
  dropped uuid[];
  too_long uuid[];
  left_ids uuid[];
  left_tokens int8[];
  left_forget bool[];
  written json;
  tagged uuid[];
  their_tags text[];
BEGIN
  IF but IS NOT NULL THEN
    WITH input AS MATERIALIZED (
      SELECT * FROM json_to_recordset(items) AS x(id uuid, token int8)
    )
    SELECT array_agg(i.id), array_agg(i.token) INTO packed, packed_as FROM input AS i
     WHERE i.token = ANY (ARRAY(SELECT h.token FROM jobmill.batch AS h WHERE h.token = ANY (ARRAY(SELECT token FROM input)) AND NOT h.token = ANY (but)))
       AND NOT i.id = ANY (ARRAY(SELECT r.id FROM jobmill.running AS r WHERE r.id = ANY (ARRAY(SELECT id FROM input))));
    IF packed IS NOT NULL THEN
      PERFORM FROM jobmill.running AS r WHERE r.id = ANY (ARRAY(SELECT x.id FROM json_to_recordset(items) AS x(id uuid))) FOR UPDATE;
      PERFORM jobmill.unpack(packed_as || with_batches, NULL, packed);
    END IF;
  END IF;
  WITH given AS MATERIALIZED (
    SELECT at AS now
  ), input AS MATERIALIZED (
    SELECT x.*, CASE WHEN x.parked THEN ${parkedMs('x.id', 'x.token', 'at')} ELSE x.delay_ms END AS due_in_ms
      FROM json_to_recordset(items) AS x(
      n int4, id uuid, token int8, to_state int2, delay_ms int8, refund int2, outcome int2, error text, ran_ms int8, log text,
      has_result bool, result json, forget bool, parked bool)
  ), gone AS (
    DELETE FROM jobmill.running AS r USING input AS i WHERE r.id = ANY (ARRAY(SELECT id FROM input)) AND r.id = i.id AND r.token = i.token
    RETURNING r.*, i.n, i.due_in_ms, i.parked, greatest(r.attempt - coalesce(i.refund, 0), 0) AS spent, i.outcome, i.error, i.ran_ms, i.log AS last_log,
      i.forget IS TRUE AS forgotten,
      CASE WHEN i.has_result THEN coalesce(i.result, 'null'::json) END AS result,
      (r.cancel_reason IS NOT NULL AND i.to_state <> ${done}) AS forced,
      CASE WHEN r.cancel_reason IS NOT NULL AND i.to_state <> ${done} THEN ${cancelled}
           WHEN i.to_state = ${scheduled} AND i.due_in_ms = 0 THEN ${ready}
           ELSE i.to_state END AS state,
      i.to_state = ${ready} AS returned
  ), to_ready AS (
    INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
    SELECT queue_id, priority, CASE WHEN returned THEN seq WHEN seq < 0 THEN jobmill.in_group(seq, nextval('jobmill.seq')) ELSE nextval('jobmill.seq') END, id,
           CASE WHEN returned THEN ready_at ELSE ${NOW} END, kind_id, tries, spent, crashes, ${WITHOUT_PERMIT}
      FROM (SELECT * FROM gone WHERE state = ${ready} ORDER BY n) AS g
  ), to_later AS (
    INSERT INTO jobmill.later (due_at, id, queue_id, kind_id, tries, priority, attempt, crashes, flags)
    SELECT ${NOW} + due_in_ms, id, queue_id, kind_id, tries, priority, spent, crashes, ${waitsAgain('gone.id')}
      FROM gone WHERE state = ${scheduled}
  ), to_wake AS (
    INSERT INTO jobmill.wake (job_id) SELECT g.id FROM gone AS g WHERE g.parked AND g.state = ${scheduled} AND ${waitsForOthers('g.id', 'g.token')}
  ), slot_left AS (
    ${slotsFreed(`SELECT g.id FROM gone AS g WHERE g.state = ${scheduled} AND g.flags & ${HAS_PASSED} <> 0`)}
  ), group_called AS (
    INSERT INTO jobmill.order_check (queue_id, order_key) SELECT queue_id, ${GROUP_MARK} || name FROM slot_left
  ), recorded AS (
    INSERT INTO jobmill.attempt (job_id, token, instance, started_at, ended_at, queue_id, attempt, spent, crashes,
                                 outcome, ended_as, tries, error, result, log)
    SELECT id, token, instance, greatest(started_at, ${NOW} - coalesce(ran_ms, ${NOW})), ${NOW}, queue_id, attempt, spent, crashes,
           CASE WHEN forced THEN ${outcomeCode('cancelled')} ELSE outcome END,
           CASE WHEN state >= ${done} THEN state END, tries, CASE WHEN forced THEN cancel_reason ELSE error END, result,
           coalesce(last_log, log)
      FROM gone WHERE (outcome IS NOT NULL OR forced) AND NOT forgotten
  ), ended AS (
    SELECT id, state, flags, CASE WHEN state = ${done} THEN result END AS result, CASE WHEN forced THEN cancel_reason ELSE error END AS error
      FROM gone WHERE state >= ${done}
  ), ${FREED}, ${PERMITS_FREED}, tallied AS (
    INSERT INTO jobmill.tally (queue_id, from_state, to_state, n)
    SELECT queue_id, ${running}, CASE WHEN NOT forgotten THEN state END, count(*) FROM gone GROUP BY 1, 3
  )
  SELECT json_agg(json_build_object('id', g.id, 'state', g.state, 'queue_id', g.queue_id, 'queue', ${queueName('g.queue_id')})) FILTER (WHERE g.id IS NOT NULL),
         ${freedFor('permit_freed')}, array_agg(g.id) FILTER (WHERE g.forgotten), array_agg(g.id) FILTER (WHERE g.tries > longest),
         array_agg(i.id) FILTER (WHERE g.id IS NULL), array_agg(i.token) FILTER (WHERE g.id IS NULL), array_agg(i.forget) FILTER (WHERE g.id IS NULL)
    INTO moved, freed_queues, dropped, too_long, left_ids, left_tokens, left_forget
    FROM input AS i LEFT JOIN gone AS g ON g.id = i.id;
  IF dropped IS NOT NULL THEN
    ${FORGET('dropped', 'dropped')}
  END IF;
  IF too_long IS NOT NULL THEN
    DELETE FROM jobmill.attempt AS a USING (
      SELECT l.id, (SELECT t.token FROM jobmill.attempt AS t WHERE t.job_id = l.id ORDER BY t.token DESC OFFSET longest - 1 LIMIT 1) AS token
        FROM unnest(too_long) AS l(id)) AS o
     WHERE a.job_id = ANY (too_long) AND a.job_id = o.id AND a.token < o.token;
  END IF;
  IF left_ids IS NOT NULL THEN
    SELECT json_agg(json_build_object('id', x.id, 'ended_as', a.ended_as, 'outcome', a.outcome, 'error', a.error, 'is_gone',
                    coalesce(x.forget AND a.job_id IS NULL AND NOT x.id = ANY (ARRAY(SELECT j.id FROM jobmill.job AS j WHERE j.id = ANY (left_ids))), false)))
      INTO written FROM unnest(left_ids, left_tokens, left_forget) AS x(id, token, forget)
      LEFT JOIN jobmill.attempt AS a ON a.job_id = ANY (left_ids) AND a.job_id = x.id AND a.token = x.token AND NOT a.taken_back;
  END IF;
  RETURN json_build_object('ended', moved, 'left', written, 'freed', freed_queues::text);
END $$;`
