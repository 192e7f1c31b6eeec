/** enqueue_alike inserts new, due jobs that are all alike, as ready or running. */
import { LAST_SEQ, LIST, MS_SINCE_BEGUN, NEXT_TOKEN, NOW, PAGES, PLANNED_ONCE } from './pieces.ts'

/**
 * Whether jobs of this queue and priority may start at once on a live instance. The queue must be open, and
 * no job of the same or a better priority may be ready. `walked` reports the result if the search for the
 * first ready job had to read far. Uses primary keys, in the given ranges of the queue.
 */
export const MAY_BEGIN = `
CREATE FUNCTION jobmill.may_begin(
  for_instance uuid, in_queue int4, with_priority int2, at int8, range_priorities int4[], range_seqs int8[], range_ends int4[],
  OUT may bool, OUT walked json)
LANGUAGE plpgsql VOLATILE ${PLANNED_ONCE} AS $$
DECLARE
  began timestamptz := clock_timestamp();
  last_seq int8 := ${LAST_SEQ};
  pages int8 := ${PAGES};
  head_priority int4;
  head_seq int8;
BEGIN
  PERFORM FROM jobmill.queue AS q, jobmill.instance AS i
   WHERE q.id = in_queue AND NOT q.paused AND q.cool_until <= at AND q.limit_name IS NULL
     AND i.id = for_instance AND i.ended_at IS NULL AND i.expires_at > at;
  may := FOUND;
  IF NOT may THEN RETURN; END IF;
  SELECT y.priority, y.seq INTO head_priority, head_seq
    FROM unnest(range_priorities, range_seqs, range_ends) AS f(priority, seq, below)
   CROSS JOIN LATERAL (
     SELECT r.priority, r.seq FROM jobmill.ready AS r
      WHERE r.queue_id = in_queue AND (r.priority, r.seq) > (f.priority, f.seq) AND r.priority < f.below
      ORDER BY r.queue_id, r.priority, r.seq LIMIT 1) AS y
   LIMIT 1;
  pages := ${PAGES} - pages;
  IF pages > 50 THEN
    walked := json_build_object('pages', pages, 'ms', ${MS_SINCE_BEGUN}, 'last_seq', last_seq,
      'heads', json_build_array(json_build_object('queue_id', in_queue, 'priority', coalesce(head_priority, 32768), 'seq', head_seq)));
  END IF;
  may := head_priority IS NULL OR with_priority < head_priority;
END $$;`

/**
 * Inserts new, due jobs of one queue, kind and priority, without keys, tags or other rare options. With
 * `for_instance`, the first jobs are leased to it, up to `room`; `leased` is their number. `tell` and
 * `message` are for remote dispatch. The function reads no table itself, so its plans cannot go wrong. See
 * docs/internals/postgres-store.md.
 */
export const ENQUEUE_ALIKE = `
CREATE FUNCTION jobmill.enqueue_alike(
  given_now int8, ids uuid[], in_queue int4, of_kind int4, with_priority int2, attempts int2, payloads text,
  for_instance uuid, room int4, range_priorities int4[], range_seqs int8[], range_ends int4[], tell text, message text,
  OUT at int8, OUT lease_token int8, OUT leased int4, OUT walked json)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  jobs int4 := cardinality(ids);
  may bool;
  listens bool := true;
BEGIN
  at := ${NOW};
  leased := 0;
  -- Released at once. Otherwise the next write would take this lock for a listening process.
  IF tell IS NOT NULL AND pg_try_advisory_lock(hashtextextended(tell, 0)) THEN
    listens := false;
    PERFORM pg_advisory_unlock(hashtextextended(tell, 0));
  END IF;
  IF for_instance IS NOT NULL AND listens THEN
    SELECT m.may, m.walked INTO may, walked
      FROM jobmill.may_begin(for_instance, in_queue, with_priority, at, range_priorities, range_seqs, range_ends) AS m;
    IF may THEN
      leased := least(room, jobs);
      lease_token := ${NEXT_TOKEN};
    END IF;
  END IF;

  -- Leased jobs come first, so that all get their places in the order of the call, even if one is returned later.
  IF jobs = 1 THEN
    INSERT INTO jobmill.job (id, queue_id, kind_id, priority, max_attempts, payload, enqueued_at)
    VALUES (ids[1], in_queue, of_kind, with_priority, attempts, payloads::json, at);
    IF leased = 1 THEN
      INSERT INTO jobmill.running (id, token, instance, seq, ready_at, started_at, queue_id, kind_id, tries, priority, attempt, crashes, flags)
      VALUES (ids[1], lease_token, for_instance, nextval('jobmill.seq'), at, at, in_queue, of_kind, 1, with_priority, 1, 0, 0);
    ELSE
      INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
      VALUES (in_queue, with_priority, nextval('jobmill.seq'), ids[1], at, of_kind, 0, 0, 0, 0);
    END IF;
  ELSE
    INSERT INTO jobmill.job (id, queue_id, kind_id, priority, max_attempts, payload, enqueued_at)
    SELECT j.id, in_queue, of_kind, with_priority, attempts, j.payload::json, at
      FROM ROWS FROM (unnest(ids), ${LIST('payloads')}) AS j(id, payload);
    IF leased > 0 THEN
      INSERT INTO jobmill.running (id, token, instance, seq, ready_at, started_at, queue_id, kind_id, tries, priority, attempt, crashes, flags)
      SELECT j.id, lease_token, for_instance, nextval('jobmill.seq'), at, at, in_queue, of_kind, 1, with_priority, 1, 0, 0
        FROM unnest(ids[:leased]) AS j(id);
    END IF;
    IF leased < jobs THEN
      INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
      SELECT in_queue, with_priority, nextval('jobmill.seq'), j.id, at, of_kind, 0, 0, 0, 0 FROM unnest(ids[leased + 1:]) AS j(id);
    END IF;
  END IF;
  IF leased > 0 THEN
    INSERT INTO jobmill.tally (queue_id, to_state, n) VALUES (in_queue, 2, leased);
    IF tell IS NOT NULL THEN
      PERFORM pg_notify(tell, concat_ws(' ', lease_token, at, message));
    END IF;
  END IF;
  IF leased < jobs THEN
    INSERT INTO jobmill.tally (queue_id, to_state, n) VALUES (in_queue, 1, jobs - leased);
  END IF;
END $$;`
