/** enqueue_due inserts new, due jobs, as ready or running. */
import { LAST_SEQ, LIST, MS_SINCE_BEGUN, NEXT_TOKEN, NOW, PAGES, PLANNED_ONCE } from './pieces.ts'

/**
 * For the queues in which jobs may start at once on a live instance: the priority and sequence number of the
 * first ready job. Jobs with a better priority may start before it. Without a ready job, returns a priority
 * after all others. Runs before anything is written, by primary keys, in the given ranges of each queue.
 */
export const OPEN_HEADS = `
CREATE FUNCTION jobmill.open_heads(
  for_instance uuid, queue_ids int4[], at int8, range_queues int4[], range_priorities int4[], range_seqs int8[], range_ends int4[])
RETURNS TABLE (queue_id int4, first_priority int4, first_seq int8) LANGUAGE sql STABLE AS $$
  SELECT q.id, coalesce(h.priority, 32768), h.seq FROM unnest(queue_ids) WITH ORDINALITY AS w(id, n) JOIN jobmill.queue AS q ON q.id = w.id
    LEFT JOIN LATERAL (
      SELECT y.priority, y.seq FROM unnest(range_queues, range_priorities, range_seqs, range_ends) AS f(queue, priority, seq, below)
       CROSS JOIN LATERAL (
         SELECT r.priority::int4 AS priority, r.seq FROM jobmill.ready AS r
          WHERE r.queue_id = q.id AND (r.priority, r.seq) > (f.priority, f.seq) AND r.priority < f.below
          ORDER BY r.queue_id, r.priority, r.seq LIMIT 1) AS y
       WHERE f.queue = w.n LIMIT 1) AS h ON true
   WHERE NOT q.paused AND q.cool_until <= at AND q.limit_name IS NULL
     AND EXISTS (SELECT FROM jobmill.instance AS i WHERE i.id = for_instance AND i.ended_at IS NULL AND i.expires_at > at)
$$;`

/**
 * Inserts new, due jobs with neither dedupe key nor order key. With `for_instance`, jobs that may start at
 * once are leased to it: by priority, then in the order of the call, up to the room in their queue. `leased`
 * says which, as a text of t and f. `walked` reports the result if the search for the first ready jobs had to
 * read far.
 */
export const ENQUEUE_DUE = `
CREATE FUNCTION jobmill.enqueue_due(
  given_now int8, ids uuid[], queue_ids int4[], kind_ids int4[], priorities int2[], attempts int2[], payloads text,
  timeouts int8[], tag_lists text[], metadatas text,
  for_instance uuid, free_queues int4[], rooms int4[], free_kinds int4[],
  range_queues int4[], range_priorities int4[], range_seqs int8[], range_ends int4[],
  OUT at int8, OUT lease_token int8, OUT leased text, OUT walked json)
LANGUAGE plpgsql VOLATILE ${PLANNED_ONCE} AS $$
DECLARE
  began timestamptz := clock_timestamp();
  last_seq int8;
  pages int8;
  head_queues int4[];
  head_priorities int4[];
  head_seqs int8[];
  head int4;
  chosen bool[];
  seqs int8[];
BEGIN
  at := ${NOW};
  IF for_instance IS NOT NULL THEN
    last_seq := ${LAST_SEQ};
    pages := ${PAGES};
    SELECT array_agg(h.queue_id), array_agg(h.first_priority), array_agg(h.first_seq) INTO head_queues, head_priorities, head_seqs
      FROM jobmill.open_heads(for_instance, free_queues, at, range_queues, range_priorities, range_seqs, range_ends) AS h;
    pages := ${PAGES} - pages;
    IF pages > 50 THEN
      walked := json_build_object('pages', pages, 'ms', ${MS_SINCE_BEGUN}, 'last_seq', last_seq,
        'heads', (SELECT json_agg(h) FROM unnest(head_queues, head_priorities, head_seqs) AS h(queue_id, priority, seq)));
    END IF;
  END IF;
  IF head_queues IS NOT NULL AND cardinality(ids) = 1 THEN
    -- A single job needs no query for this.
    head := array_position(head_queues, queue_ids[1]);
    chosen := ARRAY[head IS NOT NULL AND priorities[1] < head_priorities[head] AND kind_ids[1] = ANY (free_kinds)];
  ELSIF head_queues IS NOT NULL THEN
    SELECT array_agg(coalesce(c.place <= c.room, false) ORDER BY c.n) INTO chosen FROM (
      SELECT j.n, w.room, CASE WHEN w.room > 0 THEN row_number() OVER (PARTITION BY w.queue_id ORDER BY j.priority, j.n) END AS place
        FROM unnest(queue_ids, kind_ids, priorities) WITH ORDINALITY AS j(queue_id, kind_id, priority, n)
        LEFT JOIN (
          SELECT f.queue_id, f.room, h.priority FROM unnest(free_queues, rooms) AS f(queue_id, room)
            JOIN unnest(head_queues, head_priorities) AS h(queue_id, priority) ON h.queue_id = f.queue_id) AS w
          ON w.queue_id = j.queue_id AND j.priority < w.priority AND j.kind_id = ANY (free_kinds)) AS c;
  END IF;

  INSERT INTO jobmill.job (id, queue_id, kind_id, priority, max_attempts, payload, enqueued_at, timeout_ms, tags, metadata)
  SELECT j.id, j.queue_id, j.kind_id, j.priority, j.attempts, j.payload::json, at, j.timeout_ms, j.tags::text[], j.metadata::json
    FROM ROWS FROM (unnest(ids), unnest(queue_ids), unnest(kind_ids), unnest(priorities), unnest(attempts), ${LIST('payloads')},
                    unnest(timeouts), unnest(tag_lists), ${LIST('metadatas')})
      AS j(id, queue_id, kind_id, priority, attempts, payload, timeout_ms, tags, metadata);
  IF tag_lists IS NOT NULL THEN
    INSERT INTO jobmill.job_tag (tag, job_id)
    SELECT unnest(j.tags::text[]), j.id FROM unnest(ids, tag_lists) AS j(id, tags) WHERE j.tags IS NOT NULL;
  END IF;

  IF chosen IS NULL OR NOT true = ANY (chosen) THEN
    INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
    SELECT j.queue_id, j.priority, nextval('jobmill.seq'), j.id, at, j.kind_id, 0, 0, 0, 0
      FROM unnest(ids, queue_ids, kind_ids, priorities) AS j(id, queue_id, kind_id, priority);
    INSERT INTO jobmill.tally (queue_id, to_state, n)
    SELECT j.queue_id, 1, count(*) FROM unnest(queue_ids) AS j(queue_id) GROUP BY 1;
    RETURN;
  END IF;

  -- Every job gets a place in the order, which it keeps if it is returned to the queue.
  lease_token := ${NEXT_TOKEN};
  leased := array_to_string(chosen, '');
  IF cardinality(ids) = 1 THEN
    INSERT INTO jobmill.running (id, token, instance, seq, ready_at, started_at, queue_id, kind_id, tries, priority, attempt, crashes, flags)
    VALUES (ids[1], lease_token, for_instance, nextval('jobmill.seq'), at, at, queue_ids[1], kind_ids[1], 1, priorities[1], 1, 0, 0);
    INSERT INTO jobmill.tally (queue_id, to_state, n) VALUES (queue_ids[1], 2, 1);
    RETURN;
  END IF;
  seqs := ARRAY(SELECT nextval('jobmill.seq') FROM unnest(ids));
  INSERT INTO jobmill.running (id, token, instance, seq, ready_at, started_at, queue_id, kind_id, tries, priority, attempt, crashes, flags)
  SELECT j.id, lease_token, for_instance, j.seq, at, at, j.queue_id, j.kind_id, 1, j.priority, 1, 0, 0
    FROM unnest(ids, seqs, queue_ids, kind_ids, priorities, chosen) AS j(id, seq, queue_id, kind_id, priority, chosen) WHERE j.chosen;
  IF false = ANY (chosen) THEN
    INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
    SELECT j.queue_id, j.priority, j.seq, j.id, at, j.kind_id, 0, 0, 0, 0
      FROM unnest(ids, seqs, queue_ids, kind_ids, priorities, chosen) AS j(id, seq, queue_id, kind_id, priority, chosen)
     WHERE NOT j.chosen;
  END IF;
  INSERT INTO jobmill.tally (queue_id, to_state, n)
  SELECT j.queue_id, CASE WHEN j.chosen THEN 2 ELSE 1 END, count(*) FROM unnest(queue_ids, chosen) AS j(queue_id, chosen) GROUP BY 1, 2;
END $$;`
