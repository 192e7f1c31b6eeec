/** enqueue inserts new jobs. first_ready and insert_jobs are parts of it. */
import { FIRST_PLACES } from '../../../job/enqueue/new-job.ts'
import { FREES_KEY, GROUP_MARK, GROUPED, HELD_UNTIL_END, IS_CHILD, KEYED, ORDERED } from '../../fragments.ts'
import {
  HASHED_ONCE,
  LAST_SEQ,
  LIST,
  MS_SINCE_BEGUN,
  NEXT_TOKEN,
  NOW,
  PAGES,
  PLANNED_ONCE,
} from './pieces.ts'

/**
 * For each queue, the priority of its first ready job: jobs with a better priority may start at once on this
 * instance. A priority after all others if no job is ready, and null if no job may start: the queue is
 * closed or has a limit, or the instance is lost. `walked` reports the searches that had to read far. Runs
 * before anything is written, by primary keys, in the given ranges of each queue.
 */
export const FIRST_READY = `
CREATE FUNCTION jobmill.first_ready(
  for_instance uuid, queue_ids int4[], at int8, range_queues int4[], range_priorities int4[], range_seqs int8[], range_ends int4[],
  OUT priorities int4[], OUT walked jsonb)
LANGUAGE plpgsql VOLATILE ${PLANNED_ONCE} AS $$
DECLARE
  began timestamptz;
  last_seq int8;
  pages int8;
  priority int4;
  seq int8;
  is_fair bool;
BEGIN
  FOR n IN 1 .. cardinality(queue_ids) LOOP
    SELECT q.group_fair INTO is_fair FROM jobmill.queue AS q, jobmill.instance AS i
     WHERE q.id = queue_ids[n] AND NOT q.paused AND q.cool_until <= at AND q.limit_name IS NULL
       AND i.id = for_instance AND i.ended_at IS NULL AND i.expires_at > at AND i.requested IS NULL;
    IF is_fair THEN
      -- The places in a fair queue do not rise, so they have no scan cursors.
      SELECT r.priority INTO priority FROM jobmill.ready AS r WHERE r.queue_id = queue_ids[n]
       ORDER BY r.queue_id, r.priority, r.seq LIMIT 1;
      priority := coalesce(priority, 32768);
    ELSIF is_fair IS NOT NULL THEN
      began := clock_timestamp();
      last_seq := ${LAST_SEQ};
      pages := ${PAGES};
      SELECT y.priority, y.seq INTO priority, seq
        FROM unnest(range_queues, range_priorities, range_seqs, range_ends) AS f(queue, priority, seq, below)
       CROSS JOIN LATERAL (
         SELECT r.priority, r.seq FROM jobmill.ready AS r
          WHERE r.queue_id = queue_ids[n] AND (r.priority, r.seq) > (f.priority, f.seq) AND r.priority < f.below
          ORDER BY r.queue_id, r.priority, r.seq LIMIT 1) AS y
       WHERE f.queue = n LIMIT 1;
      priority := coalesce(priority, 32768);
      pages := ${PAGES} - pages;
      IF pages > 50 THEN
        walked := coalesce(walked, '[]') || jsonb_build_object(
          'queue_id', queue_ids[n], 'priority', priority, 'seq', seq, 'last_seq', last_seq, 'pages', pages, 'ms', ${MS_SINCE_BEGUN});
      END IF;
    ELSE
      priority := NULL;
    END IF;
    priorities := CASE WHEN n = 1 THEN ARRAY[priority] ELSE priorities || priority END;
  END LOOP;
END $$;`

/** The columns of `job` that a new job sets. */
export const JOB_COLUMNS = `id, queue_id, kind_id, priority, max_attempts, payload, enqueued_at,
  timeout_ms, tags, metadata, dedupe_key, hold_ms, hold_after, order_key, group_name`

const JOB_VALUES = `i.id, i.queue_id, i.kind_id, i.priority, i.max_attempts, i.payload, at,
  i.timeout_ms, i.tags, i.metadata, i.dedupe_key, i.hold_ms, i.hold_after, i.order_key, i.group_name`

const READY_COLUMNS = `queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags`
const RUNNING_COLUMNS = `id, token, instance, seq, ready_at, started_at, queue_id, kind_id, tries, priority, attempt, crashes, flags`

/** When the key of the new job `i` expires, whatever happens to the job. See keyExpiresAt. */
const EXPIRES_AT = `CASE i.hold_after WHEN 'enqueued' THEN at + i.hold_ms WHEN 'due' THEN i.due END`

/**
 * Inserts jobs of any kind. A list with one item holds for all jobs. `rare` has the options that few jobs
 * have, keyed by the number of the job.
 *
 * - A job with a dedupe key must win its key: it takes over an expired hold; otherwise the insert into
 *   `dedupe` decides. DO UPDATE instead of DO NOTHING would lock the row of a held key, so an open user
 *   transaction that found a duplicate would prevent the holder from finishing. Keys and ids are sorted, so
 *   that two calls cannot deadlock.
 * - New, due jobs without a key start at once, by priority, then in the order of the call, up to the room in
 *   their queue, if they come before its first ready job.
 * - `seq` rises in the order of the call. A job that returns to its queue keeps it.
 */
export const INSERT_JOBS = `
CREATE FUNCTION jobmill.insert_jobs(
  at int8, ids uuid[], queue_ids int4[], kind_ids int4[], priorities int2[], attempts int2[], timeouts int8[], payloads text,
  tag_lists text[], metadatas text, rare text, may_repeat bool, for_instance uuid, lease_token int8, free_queues int4[], rooms int4[], free_kinds int4[], first_priorities int4[],
  OUT placed json)
LANGUAGE plpgsql VOLATILE ${HASHED_ONCE} AS $$
DECLARE
  keys text[] := ARRAY(SELECT x.dedupe_key FROM json_to_recordset(rare::json) AS x(dedupe_key text) WHERE x.dedupe_key IS NOT NULL);
BEGIN
  WITH input AS MATERIALIZED (
    SELECT j.n::int4, j.id, coalesce(j.queue_id, queue_ids[1]) AS queue_id, coalesce(j.kind_id, kind_ids[1]) AS kind_id,
           coalesce(j.priority, priorities[1]) AS priority, coalesce(j.max_attempts, attempts[1]) AS max_attempts,
           coalesce(j.timeout_ms, CASE WHEN cardinality(timeouts) = 1 THEN timeouts[1] END) AS timeout_ms, j.payload::json AS payload,
           j.tags::text[] AS tags, j.metadata::json AS metadata, x.dedupe_key, x.hold_ms, x.hold_after, x.order_key, x.group_name, x.first, x.parent, coalesce(x.due_at, at + coalesce(x.delay_ms, 0)) AS due,
           (CASE WHEN x.hold_after IN ${HELD_UNTIL_END} THEN ${KEYED} WHEN x.hold_after = 'started' THEN ${KEYED | FREES_KEY} ELSE 0 END
             + CASE WHEN x.order_key IS NULL THEN 0 ELSE ${ORDERED} END
             + CASE WHEN x.parent IS NULL THEN 0 ELSE ${IS_CHILD} END + CASE WHEN x.group_name IS NULL THEN 0 ELSE ${GROUPED} END)::int2 AS flags,
           CASE WHEN x.group_name IS NOT NULL THEN jobmill.group_kind(coalesce(j.queue_id, queue_ids[1]), x.group_name) END AS group_kind
      FROM ROWS FROM (unnest(ids), unnest(queue_ids), unnest(kind_ids), unnest(priorities), unnest(attempts), unnest(timeouts), ${LIST('payloads')},
                      unnest(tag_lists), ${LIST('metadatas')})
        WITH ORDINALITY AS j(id, queue_id, kind_id, priority, max_attempts, timeout_ms, payload, tags, metadata, n)
      LEFT JOIN json_to_recordset(rare::json) AS x(
        n int4, due_at int8, delay_ms int8, dedupe_key text, hold_ms int8, hold_after text, order_key text, group_name text, first bool, parent json) ON x.n = j.n
  ), known AS MATERIALIZED (
    SELECT j.id FROM jobmill.job AS j WHERE (may_repeat OR keys <> '{}') AND j.id = ANY (ids)
  ), taken_over AS (
    UPDATE jobmill.dedupe AS d SET job_id = i.id, expires_at = ${EXPIRES_AT} FROM input AS i
     WHERE d.key = ANY (keys) AND d.key = i.dedupe_key AND d.expires_at <= at AND NOT EXISTS (SELECT FROM known AS k WHERE k.id = i.id)
    RETURNING d.job_id AS id
  ), taken AS (
    INSERT INTO jobmill.dedupe (key, job_id, expires_at)
    SELECT i.dedupe_key, i.id, ${EXPIRES_AT} FROM input AS i
     WHERE i.dedupe_key IS NOT NULL AND NOT EXISTS (SELECT FROM known AS k WHERE k.id = i.id)
       AND NOT EXISTS (SELECT FROM taken_over AS t WHERE t.id = i.id)
     ORDER BY i.dedupe_key
    ON CONFLICT (key) DO NOTHING RETURNING job_id AS id
  ), won AS (
    SELECT t.id FROM taken_over AS t UNION ALL SELECT t.id FROM taken AS t
  ), inserted AS (
    -- Without a conflict clause, which would cost a third of the throughput.
    INSERT INTO jobmill.job (${JOB_COLUMNS})
    SELECT ${JOB_VALUES} FROM input AS i WHERE NOT may_repeat AND i.dedupe_key IS NULL RETURNING id
  ), perhaps_new AS (
    INSERT INTO jobmill.job (${JOB_COLUMNS})
    SELECT ${JOB_VALUES} FROM input AS i WHERE i.id IN (SELECT w.id FROM won AS w) OR may_repeat AND i.dedupe_key IS NULL ORDER BY i.id
    ON CONFLICT (id) DO NOTHING RETURNING id
  ), written AS (
    SELECT w.id FROM inserted AS w UNION ALL SELECT w.id FROM perhaps_new AS w
  ), fresh AS MATERIALIZED (
    SELECT f.*, CASE WHEN f.due <= at AND NOT f.waits THEN
             CASE WHEN f.group_kind = 'fair' THEN jobmill.in_group(jobmill.group_start(f.queue_id, f.group_name), nextval('jobmill.seq'))
                  ELSE nextval('jobmill.seq') END END AS seq
      FROM (
        SELECT i.*, i.order_key IS NOT NULL OR i.group_kind IS NOT DISTINCT FROM 'limited' AS waits,
               coalesce(r.room >= row_number() OVER (PARTITION BY r.queue_id ORDER BY i.priority, i.n), false) AS starts
          FROM input AS i JOIN written AS w ON w.id = i.id
          LEFT JOIN unnest(free_queues, rooms, first_priorities) AS r(queue_id, room, priority)
            ON r.queue_id = i.queue_id AND i.priority < r.priority AND i.kind_id = ANY (free_kinds) AND i.due <= at
           AND i.flags & ~${GROUPED} = 0 AND i.group_kind IS DISTINCT FROM 'limited' AND i.dedupe_key IS NULL
         ORDER BY i.n) AS f
  ), to_running AS (
    INSERT INTO jobmill.running (${RUNNING_COLUMNS})
    SELECT f.id, lease_token, for_instance, f.seq, at, at, f.queue_id, f.kind_id, 1, f.priority, 1, 0, 0 FROM fresh AS f WHERE f.starts
  ), to_ready AS (
    INSERT INTO jobmill.ready (${READY_COLUMNS})
    SELECT f.queue_id, f.priority, f.seq, f.id, at, f.kind_id, 0, 0, 0, f.flags & ~${GROUPED} FROM fresh AS f WHERE f.seq IS NOT NULL AND NOT f.starts
  ), to_later AS (
    INSERT INTO jobmill.later (due_at, id, queue_id, kind_id, tries, priority, attempt, crashes, flags)
    SELECT f.due, f.id, f.queue_id, f.kind_id, 0, f.priority, 0, 0, f.flags FROM fresh AS f WHERE f.due > at
  ), to_order_queue AS (
    INSERT INTO jobmill.order_queue (queue_id, order_key, pos, id, due_at, kind_id, tries, priority, flags)
    SELECT f.queue_id, coalesce(f.order_key, ${GROUP_MARK} || f.group_name), nextval('jobmill.seq') - CASE WHEN f.first THEN ${FIRST_PLACES} ELSE 0 END, f.id, f.due, f.kind_id, 0, f.priority, f.flags
      FROM fresh AS f WHERE f.due <= at AND f.waits
    RETURNING queue_id, order_key
  ), checked AS (
    INSERT INTO jobmill.order_check (queue_id, order_key) SELECT DISTINCT o.queue_id, o.order_key FROM to_order_queue AS o
  ), linked AS (
    INSERT INTO jobmill.child (id, parent_id, step, place)
    SELECT f.id, (f.parent ->> 'id')::uuid, f.parent ->> 'step', (f.parent ->> 'place')::int4 FROM fresh AS f WHERE f.parent IS NOT NULL
  ), tagged AS (
    INSERT INTO jobmill.job_tag (tag, job_id) SELECT unnest(f.tags), f.id FROM fresh AS f WHERE f.tags IS NOT NULL
  ), tallied AS (
    INSERT INTO jobmill.tally (queue_id, to_state, n)
    SELECT f.queue_id, CASE WHEN f.starts THEN 2 WHEN f.seq IS NOT NULL THEN 1 ELSE 0 END, count(*) FROM fresh AS f GROUP BY 1, 2
  )
  SELECT json_build_object(
    'ready', (SELECT json_object_agg(r.queue_id, r.jobs) FROM (
      SELECT f.queue_id, count(*) FILTER (WHERE NOT f.waits) AS jobs FROM fresh AS f WHERE f.due <= at AND NOT f.starts GROUP BY 1) AS r),
    'started', (SELECT json_agg(f.n) FROM fresh AS f WHERE f.starts),
    'lost', CASE WHEN keys <> '{}' THEN (SELECT json_agg(i.n) FROM input AS i
      WHERE i.dedupe_key IS NOT NULL AND NOT EXISTS (SELECT FROM won AS w WHERE w.id = i.id) AND NOT EXISTS (SELECT FROM known AS k WHERE k.id = i.id)) END,
    'stray', CASE WHEN keys <> '{}' THEN (SELECT json_agg(i.n) FROM input AS i
      WHERE i.id IN (SELECT w.id FROM won AS w) AND NOT EXISTS (SELECT FROM written AS w WHERE w.id = i.id)) END)
    INTO placed;
END $$;`

/**
 * Inserts new jobs: as ready or waiting, or as running on `for_instance`. A list with one item holds for all
 * jobs. `tell` and `message` are for remote dispatch. Due jobs without keys are inserted here: this part
 * reads no table, so its plans cannot go wrong, and it needs none of the settings of the other functions.
 * See docs/internals/postgres-store.md. `jobs` is 0 if the ids of queues and kinds do not belong to this
 * database. `leased` is the number of running jobs, which are the first ones unless `placed` lists them.
 */
export const ENQUEUE = `
CREATE FUNCTION jobmill.enqueue(
  given_now int8, names_true bool, ids uuid[], queue_ids int4[], kind_ids int4[], priorities int2[], attempts int2[], timeouts int8[], payloads text,
  tag_lists text[], metadatas text, rare text, may_repeat bool, for_instance uuid, free_queues int4[], rooms int4[], free_kinds int4[],
  range_queues int4[], range_priorities int4[], range_seqs int8[], range_ends int4[], tell text, message text, batch_from int4,
  OUT jobs int4, OUT at int8, OUT lease_token int8, OUT leased int4, OUT walked jsonb, OUT placed json)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  is_alike bool := cardinality(queue_ids) = 1;
  in_queue int4 := queue_ids[1];
  of_kind int4 := kind_ids[1];
  with_priority int2 := priorities[1];
  with_attempts int2 := attempts[1];
  with_timeout int8 := CASE WHEN is_alike THEN timeouts[1] END;
  first_priorities int4[];
  starts bool[];
  seqs int8[];
BEGIN
  jobs := CASE WHEN names_true THEN cardinality(ids) ELSE 0 END;
  IF jobs = 0 THEN RETURN; END IF;
  at := ${NOW};
  leased := 0;
  -- Released at once. Otherwise the next write would take this lock for a listening process.
  IF tell IS NOT NULL AND pg_try_advisory_lock(hashtextextended(tell, 0)) THEN
    for_instance := NULL;
    PERFORM pg_advisory_unlock(hashtextextended(tell, 0));
  END IF;
  IF for_instance IS NOT NULL THEN
    SELECT f.priorities, f.walked INTO first_priorities, walked
      FROM jobmill.first_ready(for_instance, free_queues, at, range_queues, range_priorities, range_seqs, range_ends) AS f;
    lease_token := ${NEXT_TOKEN};
  END IF;
  IF rare IS NOT NULL OR may_repeat THEN
    placed := jobmill.insert_jobs(at, ids, queue_ids, kind_ids, priorities, attempts, timeouts, payloads, tag_lists, metadatas, rare, may_repeat,
      for_instance, lease_token, free_queues, rooms, free_kinds, first_priorities);
    RETURN;
  END IF;

  IF is_alike AND with_priority < first_priorities[1] THEN
    leased := least(rooms[1], jobs);
  ELSIF NOT is_alike AND first_priorities IS NOT NULL THEN
    SELECT array_agg(s.place <= s.room ORDER BY s.n), count(*) FILTER (WHERE s.place <= s.room) INTO starts, leased
      FROM (
        SELECT j.n, f.room, row_number() OVER (PARTITION BY f.queue_id ORDER BY j.priority, j.n) AS place
          FROM unnest(queue_ids, kind_ids, priorities) WITH ORDINALITY AS j(queue_id, kind_id, priority, n)
          LEFT JOIN unnest(free_queues, rooms, first_priorities) AS f(queue_id, room, priority)
            ON f.queue_id = j.queue_id AND j.priority < f.priority AND j.kind_id = ANY (free_kinds)) AS s;
    placed := json_build_object('started', (SELECT json_agg(s.n) FROM unnest(starts) WITH ORDINALITY AS s(starts, n) WHERE s.starts));
  END IF;

  IF jobs = 1 THEN
    INSERT INTO jobmill.job (id, queue_id, kind_id, priority, max_attempts, timeout_ms, payload, enqueued_at, tags, metadata)
    VALUES (ids[1], in_queue, of_kind, with_priority, with_attempts, with_timeout, payloads::json, at, tag_lists[1]::text[], metadatas::json);
  ELSE
    INSERT INTO jobmill.job (id, queue_id, kind_id, priority, max_attempts, timeout_ms, payload, enqueued_at, tags, metadata)
    SELECT j.id, coalesce(j.queue_id, in_queue), coalesce(j.kind_id, of_kind), coalesce(j.priority, with_priority),
           coalesce(j.max_attempts, with_attempts), coalesce(j.timeout_ms, with_timeout), j.payload::json, at, j.tags::text[], j.metadata::json
      FROM ROWS FROM (unnest(ids), unnest(queue_ids), unnest(kind_ids), unnest(priorities), unnest(attempts), unnest(timeouts), ${LIST('payloads')},
                      unnest(tag_lists), ${LIST('metadatas')})
        AS j(id, queue_id, kind_id, priority, max_attempts, timeout_ms, payload, tags, metadata);
  END IF;
  IF tag_lists IS NOT NULL THEN
    INSERT INTO jobmill.job_tag (tag, job_id)
    SELECT unnest(j.tags::text[]), j.id FROM unnest(ids, tag_lists) AS j(id, tags) WHERE j.tags IS NOT NULL;
  END IF;

  IF leased = 0 AND jobs = 1 THEN
    INSERT INTO jobmill.ready (${READY_COLUMNS})
    VALUES (in_queue, with_priority, nextval('jobmill.seq'), ids[1], at, of_kind, 0, 0, 0, 0);
  ELSIF jobs = 1 THEN
    INSERT INTO jobmill.running (${RUNNING_COLUMNS})
    VALUES (ids[1], lease_token, for_instance, nextval('jobmill.seq'), at, at, in_queue, of_kind, 1, with_priority, 1, 0, 0);
  ELSIF leased = 0 THEN
    INSERT INTO jobmill.ready (${READY_COLUMNS})
    SELECT coalesce(j.queue_id, in_queue), coalesce(j.priority, with_priority), nextval('jobmill.seq'), j.id, at, coalesce(j.kind_id, of_kind), 0, 0, 0, 0
      FROM unnest(ids, queue_ids, kind_ids, priorities) AS j(id, queue_id, kind_id, priority);
  ELSE
    -- All jobs get their places in the order of the call, even if one is returned later.
    seqs := ARRAY(SELECT nextval('jobmill.seq') FROM generate_series(1, jobs));
    IF is_alike THEN starts := array_fill(true, ARRAY[leased]); END IF;
    IF is_alike AND leased >= batch_from THEN
      INSERT INTO jobmill.batch (token, queue_id, instance, started_at, ids, seqs, ready_ats)
      VALUES (lease_token, in_queue, for_instance, at, ids[:leased], seqs[:leased], array_fill(at, ARRAY[leased]));
    ELSE
      INSERT INTO jobmill.running (${RUNNING_COLUMNS})
      SELECT j.id, lease_token, for_instance, j.seq, at, at, coalesce(j.queue_id, in_queue), coalesce(j.kind_id, of_kind), 1,
             coalesce(j.priority, with_priority), 1, 0, 0
        FROM unnest(ids, seqs, queue_ids, kind_ids, priorities, starts) AS j(id, seq, queue_id, kind_id, priority, starts) WHERE j.starts;
    END IF;
    IF leased < jobs THEN
      INSERT INTO jobmill.ready (${READY_COLUMNS})
      SELECT coalesce(j.queue_id, in_queue), coalesce(j.priority, with_priority), j.seq, j.id, at, coalesce(j.kind_id, of_kind), 0, 0, 0, 0
        FROM unnest(ids, seqs, queue_ids, kind_ids, priorities, starts) AS j(id, seq, queue_id, kind_id, priority, starts)
       WHERE j.starts IS NOT TRUE;
    END IF;
  END IF;
  IF tell IS NOT NULL AND leased = 1 THEN
    PERFORM pg_notify(tell, concat_ws(' ', lease_token, at, message));
  END IF;
  IF NOT is_alike THEN
    INSERT INTO jobmill.tally (queue_id, to_state, n)
    SELECT j.queue_id, CASE WHEN j.starts THEN 2 ELSE 1 END, count(*) FROM unnest(queue_ids, starts) AS j(queue_id, starts) GROUP BY 1, 2;
    RETURN;
  END IF;
  IF leased < jobs THEN
    INSERT INTO jobmill.tally (queue_id, to_state, n) VALUES (in_queue, 1, jobs - leased);
  END IF;
  IF leased > 0 THEN
    INSERT INTO jobmill.tally (queue_id, to_state, n) VALUES (in_queue, 2, leased);
  END IF;
END $$;`
