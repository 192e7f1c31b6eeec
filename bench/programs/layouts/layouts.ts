// The layouts that main.ts compares: the tables, and bare functions that fill, claim and finish.

const SETTINGS_OF = `SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off`
const PLANNED = `${SETTINGS_OF} SET enable_hashjoin = off SET enable_mergejoin = off`
const HASHED = `${SETTINGS_OF} SET enable_nestloop = off SET enable_mergejoin = off`
const NOW = `floor(extract(epoch FROM clock_timestamp()) * 1000)::int8`
const LIST = `unnest(string_to_array(results, E'\\x1e', ''))`

const JOB = `
CREATE SEQUENCE seq; CREATE SEQUENCE token; CREATE SEQUENCE hint;
CREATE TABLE job (id uuid PRIMARY KEY, queue_id int4 NOT NULL, kind_id int4 NOT NULL, priority int2 NOT NULL, max_attempts int2 NOT NULL,
  payload json NOT NULL, enqueued_at int8 NOT NULL, timeout_ms int8, tags text[], metadata json, dedupe_key text, hold_ms int8, order_key text);
CREATE TABLE attempt (job_id uuid NOT NULL, token int8 NOT NULL, instance uuid, started_at int8, ended_at int8 NOT NULL, queue_id int4 NOT NULL,
  attempt int2 NOT NULL, spent int2 NOT NULL, crashes int2 NOT NULL, outcome int2 NOT NULL, ended_as int2, tries int4 NOT NULL,
  taken_back bool NOT NULL DEFAULT false, error text, result json, log text, PRIMARY KEY (job_id, token));
CREATE INDEX attempt_ended ON attempt (queue_id, ended_as, ended_at, job_id) WHERE ended_as IS NOT NULL;
CREATE TABLE tally (queue_id int4 NOT NULL, from_state int2, to_state int2, n int8 NOT NULL);
ALTER TABLE tally SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
`
const VACUUMED = `autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0`
const READY = (more = '', fill = 100): string => `
CREATE TABLE ready (queue_id int4 NOT NULL, priority int2 NOT NULL, seq int8 NOT NULL, id uuid NOT NULL UNIQUE, ready_at int8 NOT NULL,
  kind_id int4 NOT NULL, tries int4 NOT NULL, attempt int2 NOT NULL, crashes int2 NOT NULL, flags int2 NOT NULL${more},
  PRIMARY KEY (queue_id, priority, seq)) WITH (${VACUUMED}, fillfactor = ${fill});
CREATE INDEX ready_quarantined ON ready (queue_id, priority, seq) WHERE crashes >= 2;
CREATE FUNCTION fill(jobs int4, kinds int4, priorities int4) RETURNS void LANGUAGE plpgsql AS $$
DECLARE at int8 := ${NOW};
BEGIN
  -- The ids are of version 7: the time first, so that they rise.
  INSERT INTO job (id, queue_id, kind_id, priority, max_attempts, payload, enqueued_at)
  SELECT (lpad(to_hex(1700000000000 + n / 50), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8000' || substr(md5(n::text), 1, 12))::uuid,
         1, 1 + n % kinds, n % priorities, 3, '{"to":"ada@example.com"}', at FROM generate_series(0, jobs - 1) AS g(n);
  INSERT INTO ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
  SELECT 1, j.priority, nextval('seq'), j.id, at, j.kind_id, 0, 0, 0, 0 FROM (SELECT * FROM job ORDER BY id) AS j;
END $$;`

/** A priority and a sequence number as one number, for cursors. */
const PLACE = (row: string): string => `(${row}.priority::int8 << 40) | ${row}.seq`
const AFTER = (row: string, floor: string): string =>
  `(${row}.priority, ${row}.seq) > ((${floor} >> 40)::int2, ${floor} & 1099511627775)`

const CLAIM = (body: string, shared: boolean, where = ''): string => `
CREATE FUNCTION claim(inst uuid, floor int8, most int4, kinds int4[]) RETURNS TABLE (id uuid, seq int8, place int8, payload json, token int8)
LANGUAGE plpgsql ${PLANNED} AS $$
#variable_conflict use_column
DECLARE at int8 := ${NOW}; places tid[]; t int8; top int8; seqs int8[];
BEGIN
  ${shared ? `floor := greatest(floor, CASE WHEN floor > 0 THEN (SELECT last_value FROM hint) ELSE 0 END);` : ''}
  places := ARRAY(SELECT x.place FROM (SELECT r.ctid AS place FROM ready AS r
     WHERE r.queue_id = 1 AND ${AFTER('r', 'floor')} AND r.crashes < 2 AND r.kind_id = ANY (kinds) ${where}
     ORDER BY r.queue_id, r.priority, r.seq LIMIT 500 FOR UPDATE SKIP LOCKED) AS x LIMIT most);
  IF places = '{}' THEN RETURN; END IF;
  ${
    shared
      ? `SELECT max(${PLACE('r')}) INTO top FROM ready AS r WHERE r.ctid = ANY (places);
  IF top > (SELECT last_value FROM hint) THEN PERFORM setval('hint', top); END IF;`
      : ''
  }
  t := greatest((extract(epoch FROM clock_timestamp()) * 1000000)::int8, nextval('token'));
  ${body}
END $$;`
const FOUND = (alias: string): string => `
  RETURN QUERY SELECT r.id, r.seq, ${PLACE('r')}, j.payload, t FROM ready AS r CROSS JOIN LATERAL (SELECT * FROM job WHERE job.id = r.id LIMIT 1) AS j
   WHERE ${alias} ORDER BY r.priority, r.seq;`
const TALLY = (from: number, to: number, n: string): string =>
  `INSERT INTO tally (queue_id, from_state, to_state, n) VALUES (1, ${from}, ${to}, ${n});`

const TODAY_CLAIM = `
  INSERT INTO running (id, token, instance, seq, ready_at, started_at, queue_id, kind_id, tries, priority, attempt, crashes, flags)
  SELECT r.id, t, inst, r.seq, r.ready_at, at, r.queue_id, r.kind_id, r.tries + 1, r.priority, r.attempt + 1, r.crashes, r.flags
    FROM ready AS r WHERE r.ctid = ANY (places);
  ${TALLY(1, 2, 'cardinality(places)')}
  ${FOUND('r.ctid = ANY (places)')}
  DELETE FROM ready AS r WHERE r.ctid = ANY (places);`
const RUNNING = `
CREATE TABLE running (id uuid PRIMARY KEY, token int8 NOT NULL, instance uuid NOT NULL, seq int8 NOT NULL, ready_at int8 NOT NULL,
  started_at int8 NOT NULL, queue_id int4 NOT NULL, kind_id int4 NOT NULL, tries int4 NOT NULL, priority int2 NOT NULL, attempt int2 NOT NULL,
  crashes int2 NOT NULL, flags int2 NOT NULL, cancel_reason text, progress json, log text) WITH (${VACUUMED});
CREATE INDEX running_instance ON running (instance);
CREATE INDEX running_cancelled ON running (instance) WHERE cancel_reason IS NOT NULL;
CREATE FUNCTION finish(ids uuid[], seqs int8[], tokens int8[], ran_for int8[], results text) RETURNS int8 LANGUAGE plpgsql ${HASHED} AS $$
DECLARE at int8 := ${NOW}; n int8;
BEGIN
  WITH gone AS (
    DELETE FROM running AS r USING ROWS FROM (unnest(ids), unnest(tokens), unnest(ran_for), ${LIST}) AS i(id, token, ran_ms, result)
     WHERE r.id = ANY (ids) AND r.id = i.id AND r.token = i.token AND r.flags = 0 AND r.tries <= 50
    RETURNING r.id, r.token, r.instance, r.started_at, r.queue_id, r.attempt, r.crashes, r.tries, r.log, i.ran_ms, i.result
  ), recorded AS (
    INSERT INTO attempt (job_id, token, instance, started_at, ended_at, queue_id, attempt, spent, crashes, outcome, ended_as, tries, result, log)
    SELECT g.id, g.token, g.instance, greatest(g.started_at, at - coalesce(g.ran_ms, at)), at, g.queue_id, g.attempt, g.attempt, g.crashes, 0, 3,
           g.tries, g.result::json, g.log FROM gone AS g
  ), tallied AS (INSERT INTO tally (queue_id, from_state, to_state, n) SELECT g.queue_id, 2, 3, count(*) FROM gone AS g GROUP BY 1)
  SELECT count(*) INTO n FROM gone;
  RETURN n;
END $$;`

const LEASE = `
CREATE TABLE lease (token int8 PRIMARY KEY, instance uuid NOT NULL, started_at int8 NOT NULL, queue_id int4 NOT NULL, priority int2 NOT NULL,
  n int4 NOT NULL, seqs int8[] NOT NULL) WITH (${VACUUMED});
CREATE INDEX lease_instance ON lease (instance);`
const INSERT_LEASE = `INSERT INTO lease (token, instance, started_at, queue_id, priority, n, seqs) VALUES (t, inst, at, 1, 0, cardinality(seqs), seqs);`

/** The job's row in ready stays while it runs, marked with the token: an update that touches no index. */
const MARK_CLAIM = `
  seqs := ARRAY(SELECT r.seq FROM ready AS r WHERE r.ctid = ANY (places));
  ${INSERT_LEASE}
  ${TALLY(1, 2, 'cardinality(places)')}
  ${FOUND('r.ctid = ANY (places)')}
  UPDATE ready AS r SET token = t WHERE r.ctid = ANY (places);`
const finishOfReady = (fence: string, by: 'id' | 'seq', narrow: boolean): string => `
CREATE FUNCTION finish(ids uuid[], seqs int8[], tokens int8[], ran_for int8[], results text) RETURNS int8 LANGUAGE plpgsql ${HASHED} AS $$
DECLARE at int8 := ${NOW}; n int8; l lease; held int8[];
BEGIN
  SELECT * INTO l FROM lease AS h WHERE h.token = tokens[1] ${fence === '' ? 'FOR KEY SHARE' : ''};
  WITH gone AS (
    DELETE FROM ready AS r USING ROWS FROM (unnest(ids), unnest(seqs), unnest(tokens), unnest(ran_for), ${LIST}) AS i(id, seq, token, ran_ms, result)
     WHERE ${by === 'id' ? 'r.id = ANY (ids) AND r.id = i.id' : 'r.queue_id = 1 AND r.priority = 0 AND r.seq = ANY (seqs) AND r.seq = i.seq'} ${fence}
       AND r.flags = 0 AND r.tries < 50
    RETURNING r.id, i.token, r.queue_id, r.attempt, r.crashes, r.tries, i.ran_ms, i.result
  ), recorded AS (
    ${
      narrow
        ? `INSERT INTO attempt (job_id, token, ended_at, queue_id, attempt, spent, crashes, outcome, ended_as, tries, result)
    SELECT g.id, g.token, at, g.queue_id, g.attempt + 1, g.attempt + 1, g.crashes, 0, 3, g.tries + 1, g.result::json FROM gone AS g`
        : `INSERT INTO attempt (job_id, token, instance, started_at, ended_at, queue_id, attempt, spent, crashes, outcome, ended_as, tries, result)
    SELECT g.id, g.token, l.instance, greatest(l.started_at, at - coalesce(g.ran_ms, at)), at, g.queue_id, g.attempt + 1, g.attempt + 1, g.crashes,
           0, 3, g.tries + 1, g.result::json FROM gone AS g`
    }
  ), tallied AS (INSERT INTO tally (queue_id, from_state, to_state, n) SELECT g.queue_id, 2, 3, count(*) FROM gone AS g GROUP BY 1)
  SELECT count(*) INTO n FROM gone;
  IF n = l.n THEN DELETE FROM lease AS h WHERE h.token = l.token; END IF;
  RETURN n;
END $$;`
/** No row per job: the claim advances a cursor and writes one lease row. */
const CURSOR_CLAIM = `
CREATE TABLE cursor (queue_id int4 PRIMARY KEY, seq int8 NOT NULL); INSERT INTO cursor VALUES (1, 0);
CREATE FUNCTION claim(inst uuid, floor int8, most int4, kinds int4[]) RETURNS TABLE (id uuid, seq int8, place int8, payload json, token int8)
LANGUAGE plpgsql ${PLANNED} AS $$
#variable_conflict use_column
DECLARE at int8 := ${NOW}; t int8; from_seq int8; seqs int8[];
BEGIN
  SELECT c.seq INTO from_seq FROM cursor AS c WHERE c.queue_id = 1 FOR UPDATE;
  seqs := ARRAY(SELECT x.seq FROM (SELECT r.seq FROM ready AS r WHERE r.queue_id = 1 AND (r.priority, r.seq) > (0, from_seq) AND r.crashes < 2
     ORDER BY r.queue_id, r.priority, r.seq LIMIT 500) AS x LIMIT most);
  IF seqs = '{}' THEN RETURN; END IF;
  t := greatest((extract(epoch FROM clock_timestamp()) * 1000000)::int8, nextval('token'));
  UPDATE cursor SET seq = seqs[cardinality(seqs)] WHERE queue_id = 1;
  ${INSERT_LEASE}
  ${TALLY(1, 2, 'cardinality(seqs)')}
  RETURN QUERY SELECT r.id, r.seq, ${PLACE('r')}, j.payload, t FROM ready AS r CROSS JOIN LATERAL (SELECT * FROM job WHERE job.id = r.id LIMIT 1) AS j
   WHERE r.queue_id = 1 AND r.priority = 0 AND r.seq = ANY (seqs) ORDER BY r.priority, r.seq;
END $$;`

/**
 * The claim moves its jobs into one lease row. The insert of the attempt, whose key is unique, is the fence.
 */
const MOVED = `
CREATE TABLE lease (token int8 PRIMARY KEY, instance uuid NOT NULL, started_at int8 NOT NULL, queue_id int4 NOT NULL, kind_id int4 NOT NULL,
  priority int2 NOT NULL, n int4 NOT NULL, ids uuid[] NOT NULL, seqs int8[] NOT NULL, ready_ats int8[] NOT NULL, tries int4[], rest json) WITH (${VACUUMED});
ALTER TABLE lease ALTER ids SET STORAGE EXTERNAL; ALTER TABLE lease ALTER seqs SET STORAGE EXTERNAL; ALTER TABLE lease ALTER ready_ats SET STORAGE EXTERNAL;
CREATE INDEX lease_instance ON lease (instance);`
const MOVED_CLAIM = `
  DECLARE ids uuid[]; ready_ats int8[]; priorities int2[];
  BEGIN
  WITH gone AS (DELETE FROM ready AS r WHERE r.ctid = ANY (places) RETURNING r.id, r.seq, r.ready_at, r.priority)
  SELECT array_agg(g.id), array_agg(g.seq), array_agg(g.ready_at), array_agg(g.priority) INTO ids, seqs, ready_ats, priorities FROM gone AS g;
  INSERT INTO lease (token, instance, started_at, queue_id, kind_id, priority, n, ids, seqs, ready_ats)
  VALUES (t, inst, at, 1, 1, 0, cardinality(ids), ids, seqs, ready_ats);
  ${TALLY(1, 2, 'cardinality(places)')}
  RETURN QUERY SELECT r.id, r.seq, ${PLACE('r')}, j.payload, t FROM unnest(ids, seqs, priorities) AS r(id, seq, priority)
    CROSS JOIN LATERAL (SELECT * FROM job WHERE job.id = r.id LIMIT 1) AS j ORDER BY r.priority, r.seq;
  END;`
const MOVED_FINISH = (narrow: boolean): string => `
CREATE FUNCTION finish(ids uuid[], seqs int8[], tokens int8[], ran_for int8[], results text) RETURNS int8 LANGUAGE plpgsql ${HASHED} AS $$
#variable_conflict use_column
DECLARE at int8 := ${NOW}; n int8; l lease;
BEGIN
  SELECT * INTO l FROM lease AS h WHERE h.token = tokens[1] FOR KEY SHARE;
  INSERT INTO attempt (job_id, token, ${narrow ? '' : 'instance, started_at, '}ended_at, queue_id, attempt, spent, crashes, outcome, ended_as, tries, result)
  SELECT i.id, l.token, ${narrow ? '' : 'l.instance, greatest(l.started_at, at - coalesce(i.ran_ms, at)), '}at, l.queue_id, 1, 1, 0, 0, 3, 1, i.result::json
    FROM ROWS FROM (unnest(ids), unnest(ran_for), ${LIST}) AS i(id, ran_ms, result) JOIN unnest(l.ids) AS held(id) ON held.id = i.id;
  GET DIAGNOSTICS n = ROW_COUNT;
  INSERT INTO tally (queue_id, from_state, to_state, n) VALUES (l.queue_id, 2, 3, n);
  IF n = l.n THEN DELETE FROM lease AS h WHERE h.token = l.token; END IF;
  RETURN n;
END $$;`

const MARKED = `${JOB}${READY(', token int8', 50)}${LEASE}`
/** The definition of each layout. */
export const LAYOUTS: Readonly<Record<string, string>> = {
  today: JOB + READY() + CLAIM(TODAY_CLAIM, false) + RUNNING,
  'today-shared-cursor': JOB + READY() + CLAIM(TODAY_CLAIM, true) + RUNNING,
  mark:
    MARKED +
    CLAIM(MARK_CLAIM, true, 'AND r.token IS NULL') +
    finishOfReady('AND r.token = i.token', 'id', false),
  'mark-seq':
    MARKED +
    CLAIM(MARK_CLAIM, true, 'AND r.token IS NULL') +
    finishOfReady('AND r.token = i.token', 'seq', false),
  moved: JOB + READY() + MOVED + CLAIM(MOVED_CLAIM, true) + MOVED_FINISH(false),
  'moved-narrow': JOB + READY() + MOVED + CLAIM(MOVED_CLAIM, true) + MOVED_FINISH(true),
  lease: JOB + READY() + LEASE + CURSOR_CLAIM + finishOfReady('', 'seq', false),
  'lease-narrow': JOB + READY() + LEASE + CURSOR_CLAIM + finishOfReady('', 'seq', true),
}
/** Layouts whose functions know one kind and one priority. */
export const OF_ONE_KIND: ReadonlySet<string> = new Set(['mark-seq', 'lease', 'lease-narrow'])
