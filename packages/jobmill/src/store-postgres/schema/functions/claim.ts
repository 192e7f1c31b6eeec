/** claim moves jobs from ready to running. any_ready and next_due are the checks of a heartbeat. */
import { FREES_KEY, HAS_STEPS, IS_CHILD } from '../../fragments.ts'
import { LAST_SEQ, MS_SINCE_BEGUN, NEXT_TOKEN, NOW, PAGES, PLANNED_ONCE } from './pieces.ts'

/** The condition that all jobs of a batch meet. */
const IS_NEW = `r.tries = 0 AND r.attempt = 0 AND r.crashes = 0 AND r.flags = 0`

/**
 * The jobs of a claim, for statements that group them by queue. If the planner believes that the table is
 * empty, it would read the whole index, because that has the order of the groups. OFFSET prevents that.
 */
const PLACES = `(SELECT ctid, * FROM jobmill.ready WHERE ready.ctid = ANY (places) OFFSET 0) AS r`

/** 20 bits that identify a queue, a priority and the kinds of a process. */
const LANE = (queue: string, priority: string, kinds: string): string =>
  `hashtextextended(concat_ws(' ', ${queue}, ${priority}, ${kinds}), 0) & 1048575`

/**
 * Moves jobs from ready to running: of the queues with the limit `in_limit`, or without a limit if that is
 * null. With `quarantined`, moves one quarantined job, otherwise none. A locked row keeps its ctid until it
 * is deleted, so the following statements use the ctid. They look up each job individually, because a join
 * could be planned as a scan of all jobs. In a lease, null means the default. The last row is not a lease but
 * a summary. See docs/internals/postgres-store.md.
 */
export const CLAIM = `
CREATE FUNCTION jobmill.claim(
  given_now int8, for_instance uuid, queue_names text[], rooms int4[], kind_ids int4[], most int4,
  range_queues int4[], range_priorities int4[], range_seqs int8[], range_ends int4[], wants_ends bool, batch_from int4,
  quarantined bool, in_limit text, with_permits bool, turns text)
RETURNS TABLE (id uuid, queue_id int4, kind_id int4, priority int2, seq int8, attempt int4, max_attempts int2, crashes int2,
               ready_at int8, enqueued_at int8, payload json, told json, group_name text)
LANGUAGE plpgsql VOLATILE ROWS 10 ${PLANNED_ONCE} AS $$
#variable_conflict use_column
DECLARE
  at int8 := ${NOW};
  began timestamptz := clock_timestamp();
  pages int8 := ${PAGES};
  last_seq int8 := ${LAST_SEQ};
  open_queues int4[];
  limited_queues int4[];
  fair_queues int4[];
  fair_places tid[];
  new_turns json;
  limited json;
  ends int4[];
  places tid[];
  lease_token int8;
  last_claim int8 := pg_sequence_last_value('jobmill.last_claim'::regclass);
  claim int8;
  batched int4;
  batched_queues int4[];
  keyed uuid[];
BEGIN
  PERFORM FROM jobmill.instance AS i WHERE i.id = for_instance AND i.ended_at IS NULL AND i.expires_at > at AND i.requested IS NULL;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT array_agg(CASE WHEN q.limit_name IS NOT DISTINCT FROM in_limit THEN q.id END ORDER BY w.n),
         array_agg(q.id ORDER BY w.n) FILTER (WHERE q.limit_name IS NOT NULL),
         array_agg(q.id ORDER BY w.n) FILTER (WHERE q.group_fair AND q.limit_name IS NOT DISTINCT FROM in_limit)
    INTO open_queues, limited_queues, fair_queues
    FROM unnest(queue_names, rooms) WITH ORDINALITY AS w(name, room, n)
    LEFT JOIN jobmill.queue AS q ON q.name = w.name AND w.room > 0 AND NOT q.paused AND q.cool_until <= at;
  IF wants_ends THEN
    SELECT array_agg(e.priority) INTO ends
      FROM unnest(range_queues, range_priorities, range_seqs, range_ends) AS f(queue, priority, seq, below)
      LEFT JOIN LATERAL (
       SELECT r.priority FROM jobmill.ready AS r
        WHERE r.queue_id = open_queues[f.queue] AND (r.priority, r.seq) > (f.priority, f.seq) AND r.priority < f.below
        ORDER BY r.queue_id DESC, r.priority DESC, r.seq DESC LIMIT 1) AS e ON true;
  END IF;

  -- Start where the last large claim of any session ended, to skip its rows while they are locked.
  IF (last_claim >> 20) <= last_seq THEN
    range_seqs := ARRAY(
      SELECT CASE WHEN f.seq > 0 AND (${LANE('open_queues[f.queue]', 'f.priority', 'kind_ids')}) = (last_claim & 1048575)
                  THEN greatest(f.seq, last_claim >> 20) ELSE f.seq END
        FROM unnest(range_queues, range_priorities, range_seqs) WITH ORDINALITY AS f(queue, priority, seq, n) ORDER BY f.n);
  END IF;

  -- The inner LIMIT is a literal, because the planner assumes a tenth of the table for a variable one. The condition
  -- on crashes is one too, because the planner uses the partial index of quarantined jobs only for a literal.
  IF quarantined THEN
    places := ARRAY(
      SELECT x.place FROM unnest(open_queues) AS w(queue_id)
       CROSS JOIN LATERAL (
         SELECT r.ctid AS place, r.priority, r.seq FROM jobmill.ready AS r
          WHERE r.queue_id = w.queue_id AND r.crashes >= 2 AND r.kind_id = ANY (kind_ids)
          ORDER BY r.queue_id, r.priority, r.seq LIMIT 1 FOR UPDATE SKIP LOCKED) AS x
       ORDER BY x.priority, x.seq LIMIT 1);
  ELSE
    places := ARRAY(
      SELECT x.place FROM unnest(open_queues, rooms) WITH ORDINALITY AS w(queue_id, room, n)
       CROSS JOIN LATERAL (
         SELECT y.place, y.priority, y.seq
           FROM unnest(range_queues, range_priorities, range_seqs, range_ends) AS f(queue, priority, seq, below)
          CROSS JOIN LATERAL (
            SELECT r.ctid AS place, r.priority, r.seq FROM jobmill.ready AS r
             WHERE r.queue_id = w.queue_id AND (r.priority, r.seq) > (f.priority, f.seq) AND r.priority < f.below
               AND r.crashes < 2 AND r.kind_id = ANY (kind_ids)
             ORDER BY r.queue_id, r.priority, r.seq LIMIT 500 FOR UPDATE SKIP LOCKED) AS y
          WHERE f.queue = w.n AND (fair_queues IS NULL OR NOT w.queue_id = ANY (fair_queues)) LIMIT w.room) AS x
       ORDER BY x.priority, x.seq LIMIT most);
    IF fair_queues IS NOT NULL THEN
      SELECT f.places, f.turned INTO fair_places, new_turns
        FROM jobmill.fair_turns(open_queues, rooms, fair_queues, kind_ids, most, cardinality(places), turns::json) AS f;
      places := fair_places || places[:most - cardinality(fair_places)];
    END IF;
  END IF;
  -- The queues were read before the jobs were locked. If a job was throttled in between, it is ready again
  -- but its queue is cooling down, so check again.
  IF places <> '{}' AND EXISTS (
    SELECT FROM jobmill.queue AS q WHERE q.id = ANY (open_queues) AND (q.paused OR q.cool_until > at OR q.limit_name IS DISTINCT FROM in_limit)) THEN
    open_queues := ARRAY(
      SELECT CASE WHEN NOT q.paused AND q.cool_until <= at AND q.limit_name IS NOT DISTINCT FROM in_limit THEN q.id END
        FROM unnest(open_queues) WITH ORDINALITY AS w(id, n) LEFT JOIN jobmill.queue AS q ON q.id = w.id ORDER BY w.n);
    places := ARRAY(SELECT r.ctid FROM ${PLACES} WHERE r.queue_id = ANY (open_queues));
  END IF;
  IF cardinality(places) >= 50 AND in_limit IS NULL THEN
    SELECT (r.seq << 20) | (${LANE('r.queue_id', 'r.priority', 'kind_ids')}) INTO claim
      FROM jobmill.ready AS r WHERE r.ctid = places[cardinality(places)] AND r.seq >= 0;
    IF last_claim IS NULL OR claim > last_claim OR ((claim # last_claim) & 1048575) <> 0 THEN
      PERFORM setval('jobmill.last_claim', claim);
    END IF;
  END IF;
  IF places <> '{}' THEN
    lease_token := ${NEXT_TOKEN};
    IF cardinality(places) >= batch_from THEN
      WITH added AS (
        INSERT INTO jobmill.batch (token, queue_id, instance, started_at, ids, seqs, ready_ats)
        SELECT lease_token, r.queue_id, for_instance, at, array_agg(r.id), array_agg(r.seq), array_agg(r.ready_at)
          FROM ${PLACES} WHERE ${IS_NEW} GROUP BY r.queue_id HAVING count(*) >= batch_from
        RETURNING queue_id, cardinality(ids) AS jobs
      )
      SELECT array_agg(a.queue_id), sum(a.jobs) INTO batched_queues, batched FROM added AS a;
    END IF;
    IF coalesce(batched, 0) < cardinality(places) THEN
      WITH started AS (
      INSERT INTO jobmill.running (id, token, instance, seq, ready_at, started_at, queue_id, kind_id, tries, priority, attempt, crashes, flags)
      SELECT r.id, lease_token, for_instance, r.seq, r.ready_at, at, r.queue_id, r.kind_id, r.tries + 1, r.priority, r.attempt + 1, r.crashes,
             CASE WHEN with_permits THEN r.flags | 8 ELSE r.flags END
        FROM jobmill.ready AS r WHERE r.ctid = ANY (places) AND NOT (batched IS NOT NULL AND ${IS_NEW} AND r.queue_id = ANY (batched_queues))
      RETURNING id, flags)
      SELECT array_agg(s.id) FILTER (WHERE s.flags & ${FREES_KEY} <> 0) INTO keyed FROM started AS s;
      IF keyed IS NOT NULL THEN
        PERFORM jobmill.free_keys(keyed);
      END IF;
    END IF;
    IF with_permits THEN
      -- Replaces a stale permit of an earlier attempt.
      INSERT INTO jobmill.permit (limit_name, holder, instance, token, amount)
      SELECT in_limit, r.id, for_instance, lease_token, 1 FROM jobmill.ready AS r WHERE r.ctid = ANY (places)
      ON CONFLICT (limit_name, holder) DO UPDATE
         SET instance = excluded.instance, token = excluded.token, amount = excluded.amount;
    END IF;
    INSERT INTO jobmill.tally (queue_id, from_state, to_state, n)
    SELECT r.queue_id, 1, 2, count(*) FROM ${PLACES} GROUP BY 1;
    RETURN QUERY
    SELECT r.id, r.queue_id, r.kind_id, nullif(r.priority, 0::int2), r.seq, nullif(r.attempt + 1, 1), j.max_attempts, nullif(r.crashes, 0::int2),
           r.ready_at, nullif(j.enqueued_at, r.ready_at), j.payload,
           CASE WHEN j.timeout_ms IS NOT NULL OR j.tags IS NOT NULL OR j.metadata IS NOT NULL OR j.order_key IS NOT NULL OR r.flags & ${HAS_STEPS | IS_CHILD} <> 0
                THEN json_build_object('timeout_ms', j.timeout_ms, 'tags', j.tags, 'metadata', j.metadata::text, 'order_key', j.order_key,
                                       'has_steps', r.flags & ${HAS_STEPS} <> 0, 'is_child', r.flags & ${IS_CHILD} <> 0) END,
           j.group_name
      FROM jobmill.ready AS r CROSS JOIN LATERAL (SELECT * FROM jobmill.job WHERE job.id = r.id LIMIT 1) AS j
     WHERE r.ctid = ANY (places) ORDER BY r.priority, r.seq;
    DELETE FROM jobmill.ready AS r WHERE r.ctid = ANY (places);
  END IF;
  IF limited_queues IS NOT NULL AND in_limit IS NULL AND cardinality(places) < most THEN
    limited := jobmill.limited(limited_queues, kind_ids);
  END IF;
  id := NULL;
  told := json_build_object('token', lease_token, 'now', at, 'limited', limited, 'open', open_queues, 'ends', ends, 'batched', batched, 'turns', new_turns,
    'last_seq', last_seq, 'pages', ${PAGES} - pages, 'ms', ${MS_SINCE_BEGUN});
  RETURN NEXT;
END $$;`

/**
 * Frees the dedupe keys that these jobs hold until they start. Another job may hold the key of a retried one.
 */
export const FREE_KEYS = `
CREATE FUNCTION jobmill.free_keys(jobs uuid[]) RETURNS void LANGUAGE plpgsql VOLATILE ${PLANNED_ONCE} AS $$
BEGIN
  DELETE FROM jobmill.dedupe AS d
   WHERE d.key = ANY (ARRAY(SELECT j.dedupe_key FROM jobmill.job AS j WHERE j.id = ANY (jobs))) AND d.job_id = ANY (jobs);
END $$;`

/** Whether a claim would find a job, for a heartbeat. Reads the same ranges by the same index. */
export const ANY_READY = `
CREATE FUNCTION jobmill.any_ready(
  queue_ids int4[], kind_ids int4[], range_queues int4[], range_priorities int4[], range_seqs int8[], range_ends int4[],
  OUT is_there bool, OUT last_seq int8, OUT pages int8, OUT ms float8)
LANGUAGE plpgsql VOLATILE ${PLANNED_ONCE} AS $$
DECLARE
  began timestamptz := clock_timestamp();
BEGIN
  last_seq := ${LAST_SEQ};
  pages := ${PAGES};
  PERFORM FROM unnest(range_queues, range_priorities, range_seqs, range_ends) AS f(queue, priority, seq, below)
   CROSS JOIN LATERAL (
     SELECT FROM jobmill.ready AS r
      WHERE r.queue_id = queue_ids[f.queue] AND (r.priority, r.seq) > (f.priority, f.seq) AND r.priority < f.below
        AND r.crashes < 2 AND r.kind_id = ANY (kind_ids)
      ORDER BY r.queue_id, r.priority, r.seq LIMIT 1) AS y
   LIMIT 1;
  is_there := FOUND;
  IF NOT is_there THEN
    -- The places in a fair queue do not rise, so they have no scan cursors.
    PERFORM FROM jobmill.queue AS q CROSS JOIN LATERAL (
      SELECT FROM jobmill.ready AS r WHERE r.queue_id = q.id AND r.crashes < 2 AND r.kind_id = ANY (kind_ids)
       ORDER BY r.queue_id, r.priority, r.seq LIMIT 1) AS y
     WHERE q.id = ANY (queue_ids) AND q.group_fair LIMIT 1;
    is_there := FOUND;
  END IF;
  pages := ${PAGES} - pages;
  ms := ${MS_SINCE_BEGUN};
END $$;`

/**
 * When the next job at or after `since` is due, for a heartbeat, by the primary key of `later`. Null if there
 * is none.
 */
export const NEXT_DUE = `
CREATE FUNCTION jobmill.next_due(since int8, OUT due_at int8, OUT ms float8) LANGUAGE plpgsql VOLATILE ${PLANNED_ONCE} AS $$
#variable_conflict use_column
DECLARE
  began timestamptz := clock_timestamp();
BEGIN
  SELECT w.due_at INTO due_at FROM jobmill.later AS w WHERE w.due_at >= since ORDER BY w.due_at, w.id LIMIT 1;
  ms := ${MS_SINCE_BEGUN};
END $$;`
