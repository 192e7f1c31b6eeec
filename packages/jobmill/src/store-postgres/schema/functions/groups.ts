/**
 * Groups: the places of their jobs among the ready jobs, fair claims, and the limits of groups.
 *
 * In a fair queue, the jobs of a group have consecutive places: 29 bits of a hash of its name, then the
 * last 34 bits of the sequence. These places are negative; jobs without a group have positive ones. So the
 * primary key of `ready` is also an index by group, and a claim takes the next job of each group in turn
 * with one lookup each. Groups with the same hash share their turns: of 1,000 groups, two do so in one of
 * 1,000 queues.
 */
import { GROUP_MARK, GROUPED, HAS_PASSED } from '../../fragments.ts'
import { NOW, PLANNED_ONCE } from './pieces.ts'

const PLACE_BITS = 34
const PLACES = `${2 ** PLACE_BITS}::int8`
const LOWEST = `(-9223372036854775807 - 1)::int8`

/** `group_start` is the first place of a group. */
export const GROUP_PLACES = `
CREATE FUNCTION jobmill.group_start(of_queue int4, of_group text) RETURNS int8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ((hashtextextended(of_group, of_queue) & ${2 ** 29 - 1}) << ${PLACE_BITS}) + ${LOWEST} $$;
CREATE FUNCTION jobmill.in_group(place_in_group int8, n int8) RETURNS int8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (place_in_group & ~(${PLACES} - 1)) | (n & (${PLACES} - 1)) $$;
`

/** The settings of a group: its own, else those of its queue. */
const LIMITS = `coalesce(g.concurrency, q.group_concurrency) AS concurrency,
         CASE WHEN g.rate IS NULL THEN q.group_rate ELSE g.rate END AS rate,
         CASE WHEN g.rate IS NULL THEN q.group_rate_per_ms ELSE g.rate_per_ms END AS rate_per_ms`

/**
 * `group_kind` says how jobs of a group become ready: null like any other job, 'fair' in the turns of their
 * group, 'limited' after they passed its limits. `group_waits` and `group_place` look it up for a job.
 */
export const GROUP_LOOKS = `
CREATE FUNCTION jobmill.group_kind(of_queue int4, of_group text) RETURNS text LANGUAGE plpgsql STABLE ${PLANNED_ONCE} AS $$
DECLARE
  q jobmill.queue;
BEGIN
  SELECT * INTO q FROM jobmill.queue AS s WHERE s.id = of_queue;
  IF NOT (q.group_fair OR q.group_concurrency IS NOT NULL OR q.group_rate IS NOT NULL) THEN RETURN NULL; END IF;
  IF q.group_concurrency IS NOT NULL OR q.group_rate IS NOT NULL OR EXISTS (
    SELECT FROM jobmill.job_group AS g WHERE g.queue_id = of_queue AND g.name = of_group
       AND (g.paused OR g.concurrency IS NOT NULL OR g.rate IS NOT NULL)) THEN RETURN 'limited'; END IF;
  RETURN 'fair';
END $$;
CREATE FUNCTION jobmill.group_waits(of_queue int4, of_job uuid) RETURNS bool LANGUAGE plpgsql STABLE ${PLANNED_ONCE} AS $$
BEGIN
  RETURN (SELECT jobmill.group_kind(of_queue, j.group_name) = 'limited' FROM jobmill.job AS j WHERE j.id = of_job) IS TRUE;
END $$;
CREATE FUNCTION jobmill.group_place(of_queue int4, of_job uuid) RETURNS int8 LANGUAGE plpgsql VOLATILE ${PLANNED_ONCE} AS $$
DECLARE
  start int8;
BEGIN
  SELECT jobmill.group_start(of_queue, j.group_name) INTO start FROM jobmill.job AS j, jobmill.queue AS q
   WHERE j.id = of_job AND q.id = of_queue AND q.group_fair;
  RETURN coalesce(jobmill.in_group(start, nextval('jobmill.seq')), nextval('jobmill.seq'));
END $$;
`

/** The jobs of a queue and a priority that a claim may take, with these further conditions. */
const ready = (conditions: string): string => `FROM jobmill.ready AS r
         WHERE r.queue_id = in_queue AND r.priority = at_priority AND r.crashes < 2 AND r.kind_id = ANY (kind_ids) AND ${conditions}
         ORDER BY r.queue_id, r.priority, r.seq`

/** Locks the next jobs of a group, after `last`. Adds them to `places`. */
const TAKE = `
        SELECT array_agg(t.ctid), max(t.seq), count(*) INTO got, last, took FROM (
          SELECT r.ctid, r.seq ${ready('r.seq > last AND r.seq < next_group')} LIMIT least(allowed, room - cardinality(places)) FOR UPDATE SKIP LOCKED) AS t;
        places := places || coalesce(got, '{}');`

/** The weight of the group at `turn`. */
const WEIGHT = `CASE WHEN has_weights THEN coalesce((SELECT g.weight FROM jobmill.job_group AS g
        WHERE g.queue_id = in_queue AND g.weight IS NOT NULL AND g.first_place = turn LIMIT 1), 1) ELSE 1 END`

/**
 * Locks up to `room` ready jobs of a fair queue, one group after the other, starting at `turn`. A group
 * gets as many jobs per lap as its weight says: of a weight of 0.5, one in every second lap. A large claim
 * takes several jobs of each group at once. First one lap over all groups of the best priority, by index
 * lookups; then more laps over those that had more jobs; then the next priority. Returns where the next
 * claim continues, and how many jobs of that group this lap has had.
 */
export const FAIR_PLACES = `
CREATE FUNCTION jobmill.fair_places(
  in_queue int4, kind_ids int4[], room int4, INOUT turn int8, INOUT taken int4, INOUT lap int4, OUT places tid[])
LANGUAGE plpgsql VOLATILE ${PLANNED_ONCE} AS $$
DECLARE
  at_priority int4 := -32769;
  has_weights bool := EXISTS (SELECT FROM jobmill.job_group AS g WHERE g.queue_id = in_queue AND g.weight IS NOT NULL);
  several int4 := greatest(1, room / 50);
  start int8;
  cursor int8;
  next_group int8;
  last int8;
  got tid[];
  took int4;
  allowed int4;
  weight float8;
  has_wrapped bool;
  groups int8[];
  lasts int8[];
  weights float8[];
  ending int4;
  from_group int4;
  to_group int4;
BEGIN
  places := '{}';
  IF turn IS NULL THEN
    turn := jobmill.group_start(in_queue, gen_random_uuid()::text);
    taken := 0;
    lap := 0;
  END IF;
  LOOP
    SELECT r.priority INTO at_priority FROM jobmill.ready AS r
     WHERE r.queue_id = in_queue AND r.priority > at_priority AND r.crashes < 2 AND r.kind_id = ANY (kind_ids)
     ORDER BY r.queue_id, r.priority, r.seq LIMIT 1;
    EXIT WHEN NOT FOUND;
    start := turn;
    cursor := turn;
    has_wrapped := false;
    groups := '{}';
    lasts := '{}';
    weights := '{}';
    ending := 0;
    LOOP
      SELECT r.seq INTO last ${ready('r.seq >= cursor')} LIMIT 1;
      IF NOT FOUND OR (has_wrapped AND last >= start) THEN
        EXIT WHEN has_wrapped;
        has_wrapped := true;
        ending := cardinality(groups);
        lap := lap + 1;
        cursor := ${LOWEST};
        CONTINUE;
      END IF;
      -- Jobs without a group count as one group, the last one.
      next_group := CASE WHEN last >= 0 THEN ${2n ** 63n - 1n} ELSE jobmill.in_group(last, 0) + ${PLACES} END;
      cursor := next_group;
      IF last >= 0 AND turn <> 0 OR last < 0 AND jobmill.in_group(last, 0) <> turn THEN
        turn := CASE WHEN last >= 0 THEN 0 ELSE jobmill.in_group(last, 0) END;
        taken := 0;
      END IF;
      weight := ${WEIGHT};
      allowed := several * (floor(weight * (lap + 1)) - floor(weight * lap)) - taken;
      took := 0;
      last := last - 1;
      IF allowed > 0 THEN ${TAKE}
      END IF;
      IF cardinality(places) >= room THEN
        taken := taken + took;
        RETURN;
      END IF;
      IF took >= allowed THEN
        groups := groups || turn;
        lasts := lasts || last;
        weights := weights || weight;
      END IF;
    END LOOP;
    -- The lap continues with the groups at which it began. Each further one starts with the first group.
    from_group := 1;
    to_group := ending;
    WHILE cardinality(groups) > 0 LOOP
      FOR n IN from_group .. to_group LOOP
        turn := groups[n];
        last := lasts[n];
        next_group := CASE WHEN turn >= 0 THEN ${2n ** 63n - 1n} ELSE turn + ${PLACES} END;
        allowed := several * (floor(weights[n] * (lap + 1)) - floor(weights[n] * lap));
        CONTINUE WHEN allowed <= 0;
        ${TAKE}
        lasts[n] := CASE WHEN took >= allowed THEN last END;
        IF cardinality(places) >= room THEN
          taken := took;
          RETURN;
        END IF;
      END LOOP;
      -- Keeps the groups that may have more, in the order of the next lap.
      SELECT coalesce(array_agg(k.g ORDER BY k.n <= ending, k.n), '{}'), coalesce(array_agg(k.l ORDER BY k.n <= ending, k.n), '{}'),
             coalesce(array_agg(k.w ORDER BY k.n <= ending, k.n), '{}') INTO groups, lasts, weights
        FROM unnest(groups, lasts, weights) WITH ORDINALITY AS k(g, l, w, n) WHERE k.l IS NOT NULL;
      ending := 0;
      from_group := 1;
      to_group := cardinality(groups);
      lap := lap + 1;
      several := greatest(1, floor((room - cardinality(places)) / (SELECT sum(w) FROM unnest(weights) AS w)));
    END LOOP;
    taken := 0;
  END LOOP;
END $$;`

/**
 * The places of a claim in its fair queues. If not all queues fit into one claim, each fair queue gets its
 * part of the room, and the part of the others is what they found. Rounds up or down at random, so that a
 * claim of one job serves each queue at times.
 */
export const FAIR_TURNS = `
CREATE FUNCTION jobmill.fair_turns(
  queue_ids int4[], rooms int4[], fair_queues int4[], kind_ids int4[], most int4, others int4, turns json, OUT places tid[], OUT turned json)
LANGUAGE plpgsql VOLATILE ${PLANNED_ONCE} AS $$
DECLARE
  total float8 := (SELECT sum(w.room) FROM unnest(queue_ids, rooms) AS w(queue_id, room) WHERE w.queue_id IS NOT NULL);
  room int4;
  last json;
  f record;
BEGIN
  places := '{}';
  FOR n IN 1 .. cardinality(queue_ids) LOOP
    CONTINUE WHEN queue_ids[n] IS NULL OR NOT queue_ids[n] = ANY (fair_queues);
    room := least(rooms[n], most - cardinality(places), greatest(most - others - cardinality(places),
      CASE WHEN total > most THEN floor(most * rooms[n] / total + random()) ELSE rooms[n] END));
    CONTINUE WHEN room <= 0;
    last := turns -> queue_ids[n]::text;
    f := jobmill.fair_places(queue_ids[n], kind_ids, room, (last ->> 0)::int8, (last ->> 1)::int4, (last ->> 2)::int4);
    places := places || f.places;
    turned := coalesce(turned, '{}')::jsonb || jsonb_build_object(queue_ids[n], jsonb_build_array(f.turn::text, f.taken, f.lap));
  END LOOP;
END $$;`

/**
 * Promotes jobs whose group has a free slot and a token, up to `most`, for the groups that have an order
 * check or whose next token is due. Locks the row of the group first, so two calls cannot give the same
 * slot. A group of which nothing is left to know is deleted.
 */
export const STAGE_GROUPS = `
CREATE FUNCTION jobmill.stage_groups(given_now int8, most int4)
RETURNS TABLE (queue_id int4, ready int4, checked int4)
LANGUAGE plpgsql VOLATILE ${PLANNED_ONCE} AS $$
#variable_conflict use_column
DECLARE
  at int8 := ${NOW};
  called int4[];
  called_groups text[];
  due_groups text[];
  g jobmill.job_group;
  q record;
  used int8;
  tokens int8;
  free int8;
  moved int4;
  has_more bool;
  next_at int8;
BEGIN
  WITH call AS (
    DELETE FROM jobmill.order_check AS c WHERE c.n = ANY (ARRAY(
      SELECT o.n FROM jobmill.order_check AS o WHERE starts_with(o.order_key, ${GROUP_MARK}) ORDER BY o.n LIMIT 1000 FOR UPDATE SKIP LOCKED))
    RETURNING c.queue_id, substr(c.order_key, 2) AS name
  ), due AS (
    SELECT d.queue_id, d.name FROM jobmill.job_group AS d WHERE d.check_at <= at ORDER BY d.check_at LIMIT 1000
  ), each_once AS (
    SELECT c.queue_id, c.name FROM call AS c UNION SELECT d.queue_id, d.name FROM due AS d
  )
  SELECT array_agg(e.queue_id ORDER BY e.queue_id, e.name), array_agg(e.name ORDER BY e.queue_id, e.name),
         (SELECT count(*) FROM call) INTO called, called_groups, checked FROM each_once AS e;
  FOR n IN 1 .. coalesce(cardinality(called), 0) LOOP
    queue_id := called[n];
    ready := 0;
    LOOP
      SELECT * INTO g FROM jobmill.job_group AS d WHERE d.queue_id = called[n] AND d.name = called_groups[n] FOR UPDATE;
      EXIT WHEN FOUND;
      INSERT INTO jobmill.job_group (queue_id, name, first_place)
      VALUES (called[n], called_groups[n], jobmill.group_start(called[n], called_groups[n])) ON CONFLICT DO NOTHING;
    END LOOP;
    SELECT q.group_fair AS fair, ${LIMITS} INTO q FROM jobmill.queue AS q WHERE q.id = called[n];
    used := g.used_until;
    free := CASE WHEN g.paused OR NOT FOUND THEN 0 WHEN q.concurrency IS NULL THEN most
      ELSE q.concurrency - (SELECT count(*) FROM jobmill.group_slot AS s WHERE s.queue_id = called[n] AND s.name = called_groups[n]) END;
    next_at := NULL;
    tokens := NULL;
    IF q.rate IS NOT NULL AND free > 0 THEN
      -- In microseconds. Unused tokens are kept for one period.
      used := greatest(used, (at - q.rate_per_ms) * 1000);
      tokens := (at * 1000 - used) * q.rate / (q.rate_per_ms * 1000);
      free := least(free, tokens);
    END IF;
    moved := 0;
    IF free > 0 THEN
      WITH head AS MATERIALIZED (
        SELECT l.* FROM jobmill.order_queue AS l WHERE l.queue_id = called[n] AND l.order_key = ${GROUP_MARK} || called_groups[n]
         ORDER BY l.pos LIMIT least(free, most) FOR UPDATE SKIP LOCKED
      ), promoted AS (
        DELETE FROM jobmill.order_queue AS l USING head WHERE l.id = head.id RETURNING l.*
      ), slots AS (
        INSERT INTO jobmill.group_slot (queue_id, name, job_id) SELECT p.queue_id, called_groups[n], p.id FROM promoted AS p WHERE q.concurrency IS NOT NULL
      ), to_ready AS (
        INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
        SELECT p.queue_id, p.priority,
               CASE WHEN q.fair THEN jobmill.in_group(jobmill.group_start(p.queue_id, called_groups[n]), nextval('jobmill.seq')) ELSE nextval('jobmill.seq') END,
               p.id, at, p.kind_id, p.tries, p.attempt, p.crashes, p.flags | ${GROUPED | HAS_PASSED}
          FROM (SELECT * FROM promoted ORDER BY pos) AS p
      )
      SELECT count(*) INTO moved FROM promoted;
    END IF;
    has_more := EXISTS (SELECT FROM jobmill.order_queue AS l WHERE l.queue_id = called[n] AND l.order_key = ${GROUP_MARK} || called_groups[n]);
    IF moved > 0 THEN
      INSERT INTO jobmill.tally (queue_id, from_state, to_state, n) VALUES (called[n], 0, 1, moved);
      ready := moved;
      RETURN NEXT;
    END IF;
    IF has_more AND moved >= most THEN
      INSERT INTO jobmill.order_check (queue_id, order_key) VALUES (called[n], ${GROUP_MARK} || called_groups[n]);
    END IF;
    IF q.rate IS NOT NULL THEN
      used := used + ceil(moved * q.rate_per_ms * 1000::numeric / q.rate);
      -- The next token, or the time from which nothing is left to know.
      next_at := CASE WHEN NOT has_more THEN used / 1000 + q.rate_per_ms
        WHEN free = tokens THEN ceil((used + q.rate_per_ms * 1000::numeric / q.rate) / 1000) END;
    END IF;
    IF NOT has_more AND g.changed_at IS NULL AND used <= (at - coalesce(q.rate_per_ms, 0)) * 1000 AND NOT EXISTS (
      SELECT FROM jobmill.group_slot AS s WHERE s.queue_id = called[n] AND s.name = called_groups[n]) THEN
      DELETE FROM jobmill.job_group AS d WHERE d.queue_id = called[n] AND d.name = called_groups[n];
    ELSIF used <> g.used_until OR next_at IS DISTINCT FROM g.check_at THEN
      UPDATE jobmill.job_group AS d SET used_until = used, check_at = next_at WHERE d.queue_id = called[n] AND d.name = called_groups[n];
    END IF;
    most := most - moved;
    IF most <= 0 THEN
      INSERT INTO jobmill.order_check (queue_id, order_key)
      SELECT c.queue_id, ${GROUP_MARK} || c.name FROM unnest(called[n + 1:], called_groups[n + 1:]) AS c(queue_id, name);
      EXIT;
    END IF;
  END LOOP;
  IF checked > 0 AND ready IS NULL THEN RETURN NEXT; END IF;
END $$;`

/**
 * Moves the ready jobs of a group of a fair queue to the group, up to `most`: the group is paused or has a
 * limit now. Looks at each priority, and compares the names of groups with the same hash.
 */
export const HOLD_GROUP = `
CREATE FUNCTION jobmill.hold_group(of_queue int4, of_group text, most int4) RETURNS int4
LANGUAGE plpgsql VOLATILE ${PLANNED_ONCE} AS $$
DECLARE
  at_priority int4 := -32769;
  start int8 := jobmill.group_start(of_queue, of_group);
  moved int4 := 0;
  held int4;
BEGIN
  LOOP
    SELECT r.priority INTO at_priority FROM jobmill.ready AS r WHERE r.queue_id = of_queue AND r.priority > at_priority
     ORDER BY r.queue_id, r.priority, r.seq LIMIT 1;
    EXIT WHEN NOT FOUND OR moved >= most;
    WITH found AS MATERIALIZED (
      SELECT r.ctid AS place FROM jobmill.ready AS r
       WHERE r.queue_id = of_queue AND r.priority = at_priority AND r.seq >= start AND r.seq < start + ${PLACES}
         AND r.flags & ${HAS_PASSED} = 0 AND EXISTS (SELECT FROM jobmill.job AS j WHERE j.id = r.id AND j.group_name = of_group OFFSET 0)
       ORDER BY r.queue_id, r.priority, r.seq LIMIT most - moved FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM jobmill.ready AS r WHERE r.ctid = ANY (ARRAY(SELECT place FROM found)) RETURNING r.*
    ), waits AS (
      INSERT INTO jobmill.order_queue (queue_id, order_key, pos, id, due_at, kind_id, tries, priority, flags, attempt, crashes)
      SELECT g.queue_id, ${GROUP_MARK} || of_group, nextval('jobmill.seq'), g.id, g.ready_at, g.kind_id, g.tries, g.priority, g.flags | ${GROUPED}, g.attempt, g.crashes
        FROM (SELECT * FROM gone ORDER BY seq) AS g
    )
    SELECT count(*) INTO held FROM gone;
    moved := moved + held;
    IF held > 0 THEN
      INSERT INTO jobmill.tally (queue_id, from_state, to_state, n) VALUES (of_queue, 1, 0, held);
    END IF;
  END LOOP;
  RETURN moved;
END $$;`

/**
 * The groups of a queue with jobs or settings of their own, up to `most` by name in each of these places, or
 * the named ones. Skips from group to group by the primary keys of the tables.
 */
export const GROUP_NAMES = `
CREATE FUNCTION jobmill.group_names(of_queue int4, most int4) RETURNS SETOF text
LANGUAGE plpgsql STABLE ${PLANNED_ONCE} AS $$
DECLARE
  at_priority int4;
  at_key text := ${GROUP_MARK};
  place int8;
  n int4 := 0;
BEGIN
  RETURN QUERY SELECT g.name FROM jobmill.job_group AS g WHERE g.queue_id = of_queue ORDER BY g.name LIMIT most;
  LOOP
    SELECT l.order_key INTO at_key FROM jobmill.order_queue AS l
     WHERE l.queue_id = of_queue AND l.order_key > at_key ORDER BY l.queue_id, l.order_key, l.pos LIMIT 1;
    n := n + 1;
    EXIT WHEN NOT FOUND OR n > most OR NOT starts_with(at_key, ${GROUP_MARK});
    RETURN NEXT substr(at_key, 2);
  END LOOP;
  RETURN QUERY SELECT j.group_name FROM jobmill.running AS r CROSS JOIN LATERAL (
    SELECT t.group_name FROM jobmill.job AS t WHERE t.id = r.id OFFSET 0) AS j WHERE r.queue_id = of_queue AND j.group_name IS NOT NULL;
  at_priority := -32769;
  n := 0;
  LOOP
    SELECT r.priority INTO at_priority FROM jobmill.ready AS r WHERE r.queue_id = of_queue AND r.priority > at_priority
     ORDER BY r.queue_id, r.priority, r.seq LIMIT 1;
    EXIT WHEN NOT FOUND OR n > most;
    place := ${LOWEST};
    LOOP
      SELECT r.seq INTO place FROM jobmill.ready AS r
       WHERE r.queue_id = of_queue AND r.priority = at_priority AND r.seq >= place ORDER BY r.queue_id, r.priority, r.seq LIMIT 1;
      n := n + 1;
      EXIT WHEN NOT FOUND OR place >= 0 OR n > most;
      RETURN QUERY SELECT j.group_name FROM jobmill.ready AS r, jobmill.job AS j
        WHERE r.queue_id = of_queue AND r.priority = at_priority AND r.seq = place AND j.id = r.id AND j.group_name IS NOT NULL;
      place := jobmill.in_group(place, 0) + ${PLACES};
    END LOOP;
  END LOOP;
END $$;
CREATE FUNCTION jobmill.group_ready(of_queue int4, of_group text, most int4, OUT jobs int4, OUT oldest int8)
LANGUAGE plpgsql STABLE ${PLANNED_ONCE} AS $$
DECLARE
  at_priority int4 := -32769;
  start int8 := jobmill.group_start(of_queue, of_group);
  here int4;
  first_at int8;
BEGIN
  jobs := 0;
  LOOP
    SELECT r.priority INTO at_priority FROM jobmill.ready AS r WHERE r.queue_id = of_queue AND r.priority > at_priority
     ORDER BY r.queue_id, r.priority, r.seq LIMIT 1;
    EXIT WHEN NOT FOUND OR jobs >= most;
    SELECT count(*), min(f.ready_at) INTO here, first_at FROM (
      SELECT r.ready_at FROM jobmill.ready AS r
       WHERE r.queue_id = of_queue AND r.priority = at_priority AND r.seq >= start AND r.seq < start + ${PLACES}
       ORDER BY r.queue_id, r.priority, r.seq LIMIT most - jobs) AS f;
    jobs := jobs + here;
    oldest := least(oldest, first_at);
  END LOOP;
END $$;`
