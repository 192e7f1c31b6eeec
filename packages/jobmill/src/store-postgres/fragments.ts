/**
 * SQL fragments shared by several statements. Each is a list of CTEs over names that the statement
 * defines: `given` (the parameter and the clock), and others as its comment says.
 *
 * Statements that a user's transaction may run take one parameter, a text that is cast to JSON. This works
 * with any driver, pooler or ORM behind a user's transaction.
 */
import { STATE_CODE } from '../job/state.ts'

const { scheduled, ready, done, cancelled } = STATE_CODE
export const KEYED = 1
export const ORDERED = 2
export const HAS_ORDER_LOCK = 4
export const HAS_PERMIT = 8
export const HAS_STEPS = 16
export const IS_CHILD = 32
/** Has a group in a queue with groups. Only while it waits, or has passed the limits of its group. */
export const GROUPED = 64
/** Has passed the limits of its group, and holds a slot if they limit the concurrency. */
export const HAS_PASSED = 128
/** The claim frees the dedupe key of the job. */
export const FREES_KEY = 256
/** The values of `hold_after` of jobs that hold their key until they end. Such jobs have the flag KEYED. */
export const HELD_UNTIL_END = `('done', 'ended')`
/** The flags of a job that leaves running and does not end. Its permits are released. */
const STAYS = KEYED | ORDERED | HAS_ORDER_LOCK | HAS_STEPS | IS_CHILD | GROUPED
export const WITHOUT_PERMIT = `flags & ${STAYS | HAS_PASSED}`
/**
 * The flags of the job with this id that stops running, or being ready, and waits. It passes the limits of
 * its group again. Reads the job, because the queue may have had no groups when the job became ready.
 */
export const waitsAgain = (id: string): string =>
  `(flags & ${STAYS} | coalesce((SELECT ${GROUPED} FROM jobmill.job AS t WHERE t.id = ${id} AND t.group_name IS NOT NULL), 0))::int2`

/** `given(p, now)`: the parameter, and the database's time unless a test overrides it. */
export const GIVEN_CTE = `given AS MATERIALIZED (
  SELECT s.p, coalesce((s.p ->> 'now')::int8, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8) AS now
    FROM (SELECT $1::text::json AS p) AS s
)`
export const NOW = `(SELECT now FROM given)`
/** The current time, evaluated for each row: for rows that the statement had to wait for. */
export const NOW_AGAIN = `coalesce((given.p ->> 'now')::int8, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8)`

/** The name for a queue or kind id, read with the row instead of from a cache. */
export const queueName = (id: string): string =>
  `(SELECT named.name FROM jobmill.queue AS named WHERE named.id = ${id})`
export const kindName = (id: string): string =>
  `(SELECT split_part(named.name, '@', 1) FROM jobmill.kind AS named WHERE named.id = ${id})`

/**
 * Whether the ids in the parameter belong to this database: `names` is the version under which they were
 * read.
 */
export const NAMES_TRUE = `(SELECT true FROM jobmill.names AS v WHERE v.version = (SELECT (p ->> 'names')::uuid FROM given) LIMIT 1)`
export const namesTrue = (version: string): string =>
  `EXISTS (SELECT FROM jobmill.names AS v WHERE v.version = ${version}::uuid)`
/**
 * The first parameter of a function, `given_now`. Raises an error if the ids of the call do not belong to
 * this database.
 */
export const nowIfNamesTrue = (version: string): string =>
  `CASE WHEN ${namesTrue(version)} THEN $1::int8 ELSE jobmill.names_unknown() END`

/** The user's transaction in which a statement runs. See commit-watch.ts. */
export const XID = `pg_current_xact_id()::text AS xid`

/**
 * Part of the statement that changes a setting, so that the new version is never visible before the new
 * setting.
 */
export const SETTINGS_CHANGED = `UPDATE jobmill.settings SET version = version + 1`

/** `input(id, n)`: the ids in the parameter, and their places in it. */
export const INPUT_IDS = `input AS MATERIALIZED (
  SELECT v.id::uuid AS id, v.n FROM given, json_array_elements_text(p -> 'ids') WITH ORDINALITY AS v(id, n)
)`

/**
 * Removes jobs of `input(id)` from the tables where they wait, as `taken`. Uses the unique index on id of
 * each table. Deleting the row takes the job: if a claim or stage locked it first, nothing is removed here,
 * and the caller looks again.
 */
export const TAKEN_CTE = `from_later AS (
  DELETE FROM jobmill.later AS w USING input WHERE w.id = input.id RETURNING w.*
), from_line AS (
  DELETE FROM jobmill.order_queue AS w USING input WHERE w.id = input.id RETURNING w.*
), from_ready AS (
  DELETE FROM jobmill.ready AS w USING input WHERE w.id = input.id RETURNING w.*
), called_behind AS (
  INSERT INTO jobmill.order_check (queue_id, order_key) SELECT DISTINCT queue_id, order_key FROM from_line
), taken AS (
  SELECT id, queue_id, kind_id, priority, attempt, crashes, tries, flags, ${scheduled}::int2 AS state,
         NULL::int8 AS seq, NULL::int8 AS ready_at, NULL::text AS order_key, NULL::int8 AS pos, due_at
    FROM from_later
  UNION ALL
  SELECT id, queue_id, kind_id, priority, attempt, crashes, tries, flags, ${scheduled}::int2, NULL, NULL, order_key, pos, due_at
    FROM from_line
  UNION ALL
  SELECT id, queue_id, kind_id, priority, attempt, crashes, tries, flags, ${ready}::int2, seq, ready_at, NULL, NULL, NULL
    FROM from_ready
)`

/** Has an order key but not its order lock. */
const NEEDS_ORDER_LOCK = `flags & ${ORDERED} <> 0 AND flags & ${HAS_ORDER_LOCK} = 0`
/** Its group has limits, which it has not passed. */
export const NEEDS_GROUP = `flags & ${GROUPED | HAS_PASSED} = ${GROUPED} AND jobmill.group_waits(queue_id, id)`
/** Such a job goes to its order queue, or to that of its group, instead of ready. */
export const WAITS_FOR_TURN = `(${NEEDS_ORDER_LOCK} OR ${NEEDS_GROUP})`

/** The start of the key of a group in `order_queue`. `checkKey` refuses control characters. */
export const GROUP_MARK = `E'\\x01'`
/** The key of the order queue that a job joins; `order_key` and `group_name` are those of the job. */
export const turnKey = (job: string): string =>
  `CASE WHEN ${NEEDS_ORDER_LOCK} THEN ${job}.order_key ELSE ${GROUP_MARK} || ${job}.group_name END`

/** The place of a job that becomes ready, behind the others of its group. */
export const NEXT_PLACE = `CASE WHEN flags & ${GROUPED} = 0 THEN nextval('jobmill.seq') ELSE jobmill.group_place(queue_id, id) END`
/** The flags of a job that becomes ready. */
export const READY_FLAGS = `CASE WHEN flags & ${HAS_PASSED} = 0 THEN flags & ~${GROUPED} ELSE flags END`

/** Releases the slots of these jobs in their groups. */
export const slotsFreed = (ids: string): string =>
  `DELETE FROM jobmill.group_slot AS t WHERE t.job_id = ANY (ARRAY(${ids})) RETURNING t.queue_id, t.name`

/**
 * Releases the dedupe keys, the order locks and the slots of `ended(id, state, flags, result, error)`, and
 * wakes the parents of children. Also wakes every cancelled job that needs a follow-up or may have
 * children, without reading them: this statement may have waited for one that enqueued some, which its
 * snapshot does not contain.
 *
 * A key with a hold time stays held after done, or after any end, but not if the job is deleted while it
 * waits. Uses `= ANY (ARRAY(…))` instead of a join: for a join with a set of unknown size, the planner reads
 * the whole table; for an array, it probes the index. The set is almost always empty.
 */
export const FREED = `keyed AS (
  SELECT j.dedupe_key, j.id, j.hold_ms,
         j.hold_ms > 0 AND (e.state = ${done} OR e.state > ${done} AND j.hold_after = 'ended') AS held_on
    FROM ended AS e JOIN jobmill.job AS j ON j.id = e.id
   WHERE j.id = ANY (ARRAY(SELECT id FROM ended WHERE flags & ${KEYED} <> 0))
), key_freed AS (
  DELETE FROM jobmill.dedupe AS d
   WHERE d.key = ANY (ARRAY(SELECT dedupe_key FROM keyed WHERE NOT held_on))
     AND d.job_id = ANY (ARRAY(SELECT id FROM keyed WHERE NOT held_on))
), key_held_on AS (
  UPDATE jobmill.dedupe AS d SET expires_at = ${NOW} + k.hold_ms FROM keyed AS k
   WHERE d.key = ANY (ARRAY(SELECT dedupe_key FROM keyed WHERE held_on)) AND d.key = k.dedupe_key AND d.job_id = k.id
), turn_freed AS (
  DELETE FROM jobmill.order_lock AS t
   WHERE t.job_id = ANY (ARRAY(SELECT e.id FROM ended AS e WHERE e.flags & ${HAS_ORDER_LOCK} <> 0))
  RETURNING t.queue_id, t.order_key
), slot_freed AS (
  ${slotsFreed(`SELECT e.id FROM ended AS e WHERE e.flags & ${HAS_PASSED} <> 0`)}
), called AS (
  INSERT INTO jobmill.order_check (queue_id, order_key)
  SELECT queue_id, order_key FROM turn_freed UNION ALL SELECT queue_id, ${GROUP_MARK} || name FROM slot_freed
), child_ended AS (
  UPDATE jobmill.child AS c SET ended_as = CASE WHEN e.state < ${done} THEN ${cancelled} ELSE e.state END, result = e.result::text, error = e.error
    FROM ended AS e
   WHERE c.id = ANY (ARRAY(SELECT d.id FROM ended AS d WHERE d.flags & ${IS_CHILD} <> 0)) AND c.id = e.id
  RETURNING c.parent_id
), parents_called AS (
  INSERT INTO jobmill.wake (job_id, cancelled)
  SELECT parent_id, false FROM child_ended UNION
  SELECT e.id, true FROM ended AS e
   WHERE e.state = ${cancelled} AND (e.flags & ${HAS_STEPS} <> 0 OR (
     SELECT k.on_cancelled FROM jobmill.job AS j JOIN jobmill.kind AS k ON k.id = j.kind_id WHERE j.id = e.id))
)`

/** The queue of a row of `taken` that has an order key or a slot: the next job may be free to run. */
export const ORDERED_QUEUE = `CASE WHEN flags & ${ORDERED | HAS_PASSED} <> 0 THEN ${queueName('taken.queue_id')} END`

/**
 * Releases the permits of `gone(id, flags)`, which leave running, by holder. Costs nothing for jobs without
 * permits.
 */
export const PERMITS_FREED = `permit_freed AS MATERIALIZED (
  SELECT f.limit_name FROM (SELECT ARRAY(SELECT g.id FROM gone AS g WHERE g.flags & ${HAS_PERMIT} <> 0) AS jobs) AS h
   CROSS JOIN LATERAL jobmill.permits_freed(h.jobs) AS f(limit_name) WHERE h.jobs <> '{}'
)`

/**
 * The queues whose limits have budget again after these permits were released: JSON text, null for none.
 * Every statement that releases permits must return it.
 */
export const freedFor = (...rows: readonly string[]): string => `(
  SELECT json_agg(q.name) FROM jobmill.queue AS q
   WHERE q.limit_name = ANY (ARRAY(${rows.map((each) => `SELECT limit_name FROM ${each}`).join(' UNION ')})))`

/**
 * Moves the jobs of `due` (rows of later that are due) to ready or to their order queues, in the given
 * order.
 */
export const dueMoved = (order: string): string => `to_ready AS (
  INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
  SELECT queue_id, priority, ${NEXT_PLACE}, id, ${NOW}, kind_id, tries, attempt, crashes, ${READY_FLAGS}
    FROM (SELECT * FROM due WHERE NOT ${WAITS_FOR_TURN} ORDER BY ${order}) AS d
), in_order_queue AS (
  INSERT INTO jobmill.order_queue (queue_id, order_key, pos, id, due_at, kind_id, tries, priority, flags, attempt, crashes)
  SELECT d.queue_id, ${turnKey('j')}, nextval('jobmill.seq'), d.id, d.due_at, d.kind_id, d.tries, d.priority, d.flags, d.attempt, d.crashes
    FROM (SELECT * FROM due WHERE ${WAITS_FOR_TURN} ORDER BY ${order}) AS d
   CROSS JOIN LATERAL (SELECT t.order_key, t.group_name FROM jobmill.job AS t WHERE t.id = d.id OFFSET 0) AS j
  RETURNING queue_id, order_key
), called AS (
  INSERT INTO jobmill.order_check (queue_id, order_key) SELECT DISTINCT queue_id, order_key FROM in_order_queue
), tallied AS (
  INSERT INTO jobmill.tally (queue_id, from_state, to_state, n)
  SELECT queue_id, ${scheduled}, ${ready}, count(*) FROM due WHERE NOT ${WAITS_FOR_TURN} GROUP BY 1
)`

/** The jobs that are still in a batch, as a table expression; `of` selects batches. */
export const batched = (of = 'true'): string => `(
  SELECT b.token, b.queue_id, b.instance, b.started_at, m.id, m.seq, m.ready_at
    FROM jobmill.batch AS b CROSS JOIN LATERAL unnest(b.ids, b.seqs, b.ready_ats) AS m(id, seq, ready_at)
   WHERE ${of} AND NOT m.id = ANY (b.gone)
     AND NOT EXISTS (SELECT FROM jobmill.attempt AS a WHERE a.job_id = m.id AND a.token = b.token))`
