/**
 * The limits of groups: stage_groups promotes jobs, hold_group keeps ready ones back, and the others list
 * groups.
 */
import { GROUP_MARK, GROUPED, HAS_PASSED } from '../../fragments.ts'
import { LOWEST, PLACES } from './groups.ts'
import { NOW, PLANNED_ONCE } from './pieces.ts'

/** The settings of a group: its own, else those of its queue. */
const LIMITS = `coalesce(g.concurrency, q.group_concurrency) AS concurrency,
         CASE WHEN g.rate IS NULL THEN q.group_rate ELSE g.rate END AS rate,
         CASE WHEN g.rate IS NULL THEN q.group_rate_per_ms ELSE g.rate_per_ms END AS rate_per_ms`

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
  at_key text := '';
  place int8;
  n int4 := 0;
BEGIN
  RETURN QUERY SELECT g.name FROM jobmill.job_group AS g WHERE g.queue_id = of_queue ORDER BY g.name LIMIT most;
  LOOP
    SELECT l.order_key INTO at_key FROM jobmill.order_queue AS l
     WHERE l.queue_id = of_queue AND l.order_key > at_key ORDER BY l.queue_id, l.order_key, l.pos LIMIT 1;
    n := n + 1;
    EXIT WHEN NOT FOUND OR n > most;
    -- Most collations ignore the mark, so keys of groups and order keys are mixed.
    IF starts_with(at_key, ${GROUP_MARK}) THEN RETURN NEXT substr(at_key, 2); END IF;
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
