/**
 * Groups: the places of their jobs among the ready jobs, and fair claims.
 *
 * In a fair queue, the jobs of a group have consecutive places: 29 bits of a hash of its name, then the
 * last 34 bits of the sequence. These places are negative; jobs without a group have positive ones. So the
 * primary key of `ready` is also an index by group, and a claim takes the next job of each group in turn
 * with one lookup each. Groups with the same hash share their turns: of 1,000 groups, two do so in one of
 * 1,000 queues.
 */
import { PLANNED_ONCE } from './pieces.ts'

const PLACE_BITS = 34
export const PLACES = `${2 ** PLACE_BITS}::int8`
export const LOWEST = `(-9223372036854775807 - 1)::int8`

/** `group_start` is the first place of a group. */
export const GROUP_PLACES = `
CREATE FUNCTION jobmill.group_start(of_queue int4, of_group text) RETURNS int8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ((hashtextextended(of_group, of_queue) & ${2 ** 29 - 1}) << ${PLACE_BITS}) + ${LOWEST} $$;
CREATE FUNCTION jobmill.in_group(place_in_group int8, n int8) RETURNS int8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (place_in_group & ~(${PLACES} - 1)) | (n & (${PLACES} - 1)) $$;
`

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
