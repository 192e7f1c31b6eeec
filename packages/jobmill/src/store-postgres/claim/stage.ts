/** Moves scheduled jobs to ready: first jobs that are due, then jobs whose order lock is free. */
import { outcomeCode } from '../../job/attempt/outcome.ts'
import { STATE_CODE } from '../../job/state.ts'
import type { Staged } from '../../store/types/replies.ts'
import { PARENT_CANCELLED } from '../../store/types/step.ts'
import type { Row } from '../connection/connection.ts'
import { ask, askWith, type Context, inTransaction, listOf } from '../context.ts'
import { cancel } from '../operate/cancel.ts'
import { FIRST_DUE } from './due-cursor.ts'
import {
  dueMoved,
  GIVEN_CTE,
  GROUP_MARK,
  HAS_ORDER_LOCK,
  kindName,
  NEEDS_GROUP,
  NEXT_PLACE,
  NOW,
  queueName,
  READY_FLAGS,
  WAITS_FOR_TURN,
} from '../fragments.ts'
import { notifyFor, readyCounts } from '../enqueue/ready-counts.ts'
import { hasArrived } from '../schema/functions/wait-for.ts'
import { type Cancellation, onCancelledJob } from '../../job/attempt/on-cancelled.ts'
import { enqueueWith, ensureNames } from '../enqueue/enqueue.ts'

const { scheduled, ready } = STATE_CODE

/**
 * Reads the primary key of `later` from its start or its scan cursor, so jobs that are not due cost nothing.
 * SKIP LOCKED lets concurrent stages take different rows. The LIMIT is a literal, because the planner assumes
 * a tenth of the table for a variable one.
 */
const stageDue = (limit: number): string => `
WITH ${GIVEN_CTE}, due AS (
  DELETE FROM jobmill.later WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM jobmill.later
     WHERE due_at >= (SELECT (p ->> 'since')::int8 FROM given) AND due_at <= ${NOW} ORDER BY due_at, id LIMIT ${limit} FOR UPDATE SKIP LOCKED))
  RETURNING *
), ${dueMoved('due_at, id')}
SELECT d.*, ${queueName('d.queue_id')} AS queue, g.now, extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000 AS ms,
       EXISTS (SELECT FROM jobmill.wake) AS is_woken FROM given AS g LEFT JOIN (
  SELECT queue_id, max(due_at) AS last_due, count(*)::int4 AS found, (count(*) FILTER (WHERE NOT ${WAITS_FOR_TURN}))::int4 AS ready
    FROM due GROUP BY 1) AS d ON true`

/** The maximum number of parked jobs per pass. */
const MOST_WAKES = 1_000

/**
 * Makes parked jobs ready when a wait is over, and deletes events that were committed after their job was
 * deleted. Deletes the handled rows of `wake`: each park, event or end of a child after this snapshot adds
 * another row. Keeps the rows of locked jobs, and of cancelled jobs until their children were asked to stop
 * and their follow-ups are enqueued.
 * Each pass starts at a random id, so that the rows of locked jobs do not delay the rest.
 */
const stageWoken = `
WITH ${GIVEN_CTE}, start AS MATERIALIZED (
  SELECT gen_random_uuid() AS id
), call AS MATERIALIZED (
  SELECT w.id, w.job_id, w.cancelled FROM jobmill.wake AS w WHERE w.id = ANY (ARRAY(
    (SELECT a.id FROM jobmill.wake AS a WHERE a.id >= (SELECT id FROM start) ORDER BY a.id LIMIT ${MOST_WAKES})
    UNION ALL
    (SELECT b.id FROM jobmill.wake AS b WHERE b.id < (SELECT id FROM start) ORDER BY b.id LIMIT ${MOST_WAKES})
    LIMIT ${MOST_WAKES})) FOR UPDATE SKIP LOCKED
), missing AS MATERIALIZED (
  SELECT c.job_id FROM call AS c WHERE NOT EXISTS (SELECT FROM jobmill.job AS j WHERE j.id = c.job_id)
), parked AS MATERIALIZED (
  SELECT w.id FROM jobmill.later AS w WHERE w.id = ANY (ARRAY(SELECT job_id FROM call)) AND w.due_at > ${NOW}
), woken AS MATERIALIZED (
  SELECT w.id, w.ctid FROM jobmill.later AS w WHERE w.id = ANY (ARRAY(SELECT id FROM parked)) ORDER BY w.id FOR UPDATE SKIP LOCKED
), due AS (
  DELETE FROM jobmill.later AS l WHERE l.ctid = ANY (ARRAY(
    SELECT w.ctid FROM woken AS w CROSS JOIN LATERAL (
        SELECT a.token, a.outcome FROM jobmill.attempt AS a WHERE a.job_id = w.id ORDER BY a.token DESC LIMIT 1) AS a
     WHERE a.outcome = ${outcomeCode('parked')} AND ${hasArrived('w.id', 'a.token')}))
  RETURNING l.*
), abandoned AS MATERIALIZED (
  SELECT c.id, c.parent_id FROM jobmill.child AS c
   WHERE c.ended_as IS NULL AND c.parent_id = ANY (ARRAY(
     SELECT a.job_id FROM jobmill.attempt AS a WHERE a.job_id = ANY (ARRAY(SELECT job_id FROM call WHERE cancelled)) AND a.ended_as = ${STATE_CODE.cancelled}
     UNION ALL SELECT m.job_id FROM missing AS m))
     AND NOT EXISTS (SELECT FROM jobmill.running AS r WHERE r.id = c.id AND r.cancel_reason IS NOT NULL)
   LIMIT ${MOST_WAKES}
), to_follow AS MATERIALIZED (
  SELECT c.id AS wake, j.id, ${kindName('j.kind_id')} AS kind, ${queueName('j.queue_id')} AS queue, a.error AS reason, a.token
    FROM call AS c
   CROSS JOIN LATERAL (SELECT t.* FROM jobmill.job AS t WHERE t.id = c.job_id OFFSET 0) AS j
   CROSS JOIN LATERAL (SELECT t.* FROM jobmill.attempt AS t WHERE t.job_id = c.job_id ORDER BY t.token DESC LIMIT 1) AS a
   WHERE c.cancelled AND a.ended_as = ${STATE_CODE.cancelled} AND NOT EXISTS (SELECT FROM abandoned AS b WHERE b.parent_id = c.job_id)
     AND (SELECT k.on_cancelled FROM jobmill.kind AS k WHERE k.id = j.kind_id)
), ${dueMoved('due_at, id')}, used AS (
  DELETE FROM jobmill.wake AS w USING call
   WHERE w.id = call.id AND (NOT EXISTS (SELECT FROM parked AS p WHERE p.id = call.job_id) OR EXISTS (SELECT FROM woken AS v WHERE v.id = call.job_id))
     AND NOT EXISTS (SELECT FROM abandoned AS b WHERE b.parent_id = call.job_id)
     AND NOT EXISTS (SELECT FROM to_follow AS f WHERE f.wake = call.id)
  RETURNING w.id
), orphaned AS (
  DELETE FROM jobmill.job_event AS e
   WHERE e.job_id = ANY (ARRAY(SELECT job_id FROM missing))
), orphans_ended AS (
  DELETE FROM jobmill.child AS c WHERE c.ended_as IS NOT NULL AND c.parent_id = ANY (ARRAY(SELECT job_id FROM missing))
)
SELECT ${queueName('d.queue_id')} AS queue, coalesce(d.ready, 0)::int4 AS ready, c.calls::int4, c.used::int4, c.abandoned, c.to_follow
  FROM (SELECT (SELECT count(*) FROM call) AS calls, (SELECT count(*) FROM used) AS used, (SELECT json_agg(b.id)::text FROM abandoned AS b) AS abandoned,
               (SELECT json_agg(f)::text FROM to_follow AS f) AS to_follow) AS c
  LEFT JOIN (SELECT queue_id, count(*) FILTER (WHERE NOT ${WAITS_FOR_TURN}) AS ready FROM due GROUP BY 1) AS d ON true`

/** A check of a group, which stage_groups handles. */
const OF_GROUP = `starts_with(order_key, ${GROUP_MARK})`

/** The maximum number of order checks per pass. Includes checks of busy or empty order queues. */
const MOST_CALLS = 1_000

/**
 * Processes order checks, oldest first. For order queues with a free lock, it promotes the first job. The job
 * is locked before the order lock is inserted, so a job that left the queue cannot get a lock that it would
 * never release. A first job held by an open transaction is skipped, with its check kept and no job
 * overtaking it. Of two concurrent passes, the insert into `order_lock` lets one through.
 */
const stageOrderQueues = (limit: number): string => `
WITH ${GIVEN_CTE}, call AS MATERIALIZED (
  SELECT n, queue_id, order_key FROM jobmill.order_check WHERE NOT ${OF_GROUP} ORDER BY n LIMIT ${MOST_CALLS} FOR UPDATE SKIP LOCKED
), free AS MATERIALIZED (
  SELECT c.queue_id, c.order_key, f.pos FROM (SELECT DISTINCT queue_id, order_key FROM call) AS c CROSS JOIN LATERAL (
    SELECT l.pos FROM jobmill.order_queue AS l WHERE l.queue_id = c.queue_id AND l.order_key = c.order_key
     ORDER BY l.pos LIMIT 1) AS f
   WHERE NOT EXISTS (SELECT FROM jobmill.order_lock AS t WHERE t.queue_id = c.queue_id AND t.order_key = c.order_key)
), head AS MATERIALIZED (
  SELECT h.* FROM free AS f CROSS JOIN LATERAL (
    SELECT l.* FROM jobmill.order_queue AS l WHERE l.queue_id = f.queue_id AND l.order_key = f.order_key AND l.pos = f.pos
       FOR UPDATE SKIP LOCKED) AS h
), chosen AS MATERIALIZED (
  SELECT * FROM head ORDER BY pos LIMIT ${limit}
), turns AS (
  INSERT INTO jobmill.order_lock (queue_id, order_key, job_id)
  SELECT queue_id, order_key, id FROM chosen ORDER BY queue_id, order_key
  ON CONFLICT (queue_id, order_key) DO NOTHING RETURNING job_id
), promoted AS (
  DELETE FROM jobmill.order_queue AS l USING turns WHERE l.id = turns.job_id RETURNING l.*
), moved AS MATERIALIZED (
  SELECT p.*, ${NEEDS_GROUP} AS waits FROM promoted AS p
), to_ready AS (
  INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
  SELECT queue_id, priority, ${NEXT_PLACE}, id, ${NOW}, kind_id, tries, attempt, crashes, ${READY_FLAGS} | ${HAS_ORDER_LOCK}
    FROM (SELECT * FROM moved WHERE NOT waits ORDER BY pos) AS p
), to_group AS (
  INSERT INTO jobmill.order_queue (queue_id, order_key, pos, id, due_at, kind_id, tries, priority, flags)
  SELECT p.queue_id, ${GROUP_MARK} || j.group_name, nextval('jobmill.seq'), p.id, p.due_at, p.kind_id, p.tries, p.priority, p.flags | ${HAS_ORDER_LOCK}
    FROM (SELECT * FROM moved WHERE waits ORDER BY pos) AS p
   CROSS JOIN LATERAL (SELECT t.group_name FROM jobmill.job AS t WHERE t.id = p.id OFFSET 0) AS j
  RETURNING queue_id, order_key
), group_called AS (
  INSERT INTO jobmill.order_check (queue_id, order_key) SELECT DISTINCT queue_id, order_key FROM to_group
), used AS (
  DELETE FROM jobmill.order_check AS c USING call
   WHERE c.n = call.n
     AND (NOT EXISTS (SELECT FROM free AS f WHERE f.queue_id = call.queue_id AND f.order_key = call.order_key)
          OR EXISTS (SELECT FROM chosen AS h WHERE h.queue_id = call.queue_id AND h.order_key = call.order_key))
), tallied AS (
  INSERT INTO jobmill.tally (queue_id, from_state, to_state, n)
  SELECT queue_id, ${scheduled}, ${ready}, count(*) FROM moved WHERE NOT waits GROUP BY 1
)
SELECT ${queueName('p.queue_id')} AS queue, coalesce(p.ready, 0)::int4 AS ready, c.calls::int4,
       EXISTS (SELECT FROM to_group) OR EXISTS (SELECT FROM jobmill.order_check WHERE ${OF_GROUP})
       OR EXISTS (SELECT FROM jobmill.job_group AS g WHERE g.check_at <= ${NOW}) AS groups
  FROM (SELECT count(*) AS calls FROM call) AS c
  LEFT JOIN (SELECT queue_id, count(*) AS ready FROM moved WHERE NOT waits GROUP BY 1) AS p ON true`

const STAGE_GROUPS = `SELECT ${queueName('g.queue_id')} AS queue, g.ready, g.checked FROM jobmill.stage_groups($1::int8, $2) AS g`

export async function stage(context: Context, limit: number): Promise<Staged> {
  const { due, isWoken } = await stageDueJobs(context, limit)
  const woken = isWoken ? await ask(context, stageWoken) : []
  const abandoned = listOf<string>(woken[0]?.['abandoned'])
  const cancelled = await cancel(context, abandoned, PARENT_CANCELLED, { skipLocked: true })
  const followed = listOf<Followed>(woken[0]?.['to_follow'])
  await followCancels(context, followed)
  const orderQueues = await ask(context, stageOrderQueues(limit))
  const groups =
    orderQueues[0]?.['groups'] === true
      ? await askWith(context, STAGE_GROUPS, [context.clock?.() ?? null, limit])
      : []
  const promoted = sum(orderQueues, 'ready') + sum(groups, 'ready')
  const counts = readyCounts()
  for (const { queue, ready } of [...due, ...woken, ...orderQueues, ...groups])
    if (ready !== 0 && queue !== null) counts.add(queue, Number(ready))
  notifyFor(context, counts)
  const allCallsSeen = Number(orderQueues[0]?.['calls'] ?? 0) < MOST_CALLS
  return {
    ready: sum(due, 'ready') + sum(woken, 'ready') + promoted,
    more:
      sum(due, 'found') >= limit ||
      (Number(woken[0]?.['calls'] ?? 0) >= MOST_WAKES &&
        Number(woken[0]?.['used'] ?? 0) + followed.length > 0) ||
      cancelled.some(({ verdict }) => verdict === 'changed') ||
      promoted >= limit ||
      !allCallsSeen ||
      groups.some(({ checked }) => Number(checked) >= MOST_CALLS),
    queues: [...counts.byQueue.keys()].toSorted(),
  }
}

/** One row per queue with due jobs, and whether stage should check the waits of parked jobs. */
async function stageDueJobs(
  context: Context,
  limit: number,
): Promise<{ readonly due: readonly Row[]; readonly isWoken: boolean }> {
  const now = context.platform.monotonic()
  const from = context.due.from(now)
  const rows = await ask(context, stageDue(limit), { since: from ?? FIRST_DUE })
  const due = rows.filter((row) => row['queue_id'] !== null)
  const isAll = sum(due, 'found') < limit
  const upTo = isAll ? Number(rows[0]?.['now']) : Math.max(...due.map((row) => Number(row['last_due'])))
  context.due.record({ from, upTo, ms: Number(rows[0]?.['ms']), now })
  return { due, isWoken: rows[0]?.['is_woken'] === true }
}

function sum(rows: readonly Row[], column: string): number {
  return rows.reduce((total, row) => total + Number(row[column]), 0)
}

interface Followed extends Cancellation {
  /** The id of the row in `wake`. */
  readonly wake: string
}

const TAKE = `
WITH ${GIVEN_CTE}
DELETE FROM jobmill.wake AS w
 WHERE w.id = ANY (ARRAY(SELECT v.id::uuid FROM given, json_array_elements_text(p -> 'ids') AS v(id))) RETURNING w.id`

/**
 * Enqueues the follow-ups of cancelled jobs.
 *
 * The transaction that deletes the row of a cancel enqueues its follow-up, so it is enqueued once. A job that
 * was retried and cancelled again has a row for each cancel, which all lead to the follow-up of the last one.
 */
async function followCancels(context: Context, cancelled: readonly Followed[]): Promise<void> {
  if (cancelled.length === 0) return
  await ensureNames(context, cancelled.map(onCancelledJob))
  const counts = readyCounts()
  await inTransaction(context, async (inside) => {
    const taken = await ask<{ id: string }>(inside, TAKE, { ids: cancelled.map(({ wake }) => wake) })
    const wakes = new Set(taken.map(({ id }) => id))
    const followUps = cancelled.filter(({ wake }) => wakes.has(wake)).map(onCancelledJob)
    const jobs = [...new Map(followUps.map((job) => [job.id, job])).values()]
    if (jobs.length > 0) await enqueueWith(inside, inside.connection.query, jobs, true, counts)
  })
  notifyFor(context, counts)
}
