/** Imports jobs. Each row is written as if the job had always been in this database. */
import { outcomeCode } from '../../job/attempt/outcome.ts'
import { isHeldUntilEnd } from '../../job/enqueue/new-job.ts'
import { storedKind } from '../../job/kind/kind-name.ts'
import { isEnded, STATE_CODE } from '../../job/state.ts'
import type { TransferredAttempt, TransferredJob, TransferredStep } from '../../store/admin/transfer.ts'
import { type ChildRecord, STEP_KINDS } from '../../store/types/step.ts'
import { askOne, columnsOf, type Context } from '../context.ts'
import { ensureNames } from '../enqueue/enqueue.ts'
import {
  FREES_KEY,
  GIVEN_CTE,
  GROUP_MARK,
  GROUPED,
  HAS_ORDER_LOCK,
  HAS_PASSED,
  HAS_STEPS,
  IS_CHILD,
  KEYED,
  NAMES_TRUE,
  ORDERED,
} from '../fragments.ts'
import { JOB_COLUMNS } from '../schema/functions/enqueue.ts'
import type { NameMap } from '../names/name-map.ts'
import { NamesChanged } from '../names/names-changed.ts'

const { scheduled, ready } = STATE_CODE

const TYPED = `id uuid, queue_id int4, kind_id int4, priority int2, max_attempts int2, payload text, enqueued_at int8, timeout_ms int8,
  tags text[], metadata text, dedupe_key text, hold_ms int8, hold_after text, order_key text, group_name text, state int2, place int8, due_at int8, ready_at int8,
  in_order_queue bool, in_group bool, has_order_lock bool, has_passed bool, attempt int2, crashes int2, tries int4, flags int2, result text, attempts json, steps json, events json, children json`
const ATTEMPT_TYPED = `n int4, attempt int2, token int8, instance uuid, started_at int8, ended_at int8, outcome int2, ended_as int2,
  taken_back bool, error text, log text`
const STEP_TYPED = `name text, place int4, kind int2, token int8, started_at int8, ended_at int8, due_at int8, events text[], result text, checkpoint text`
const CHILD_TYPED = `id uuid, step text, place int4, ended_as int2, result text, error text`
const EVENT_TYPED = `id uuid, name text, payload text, sent_at int8, step text`

/**
 * One statement: all or nothing. Existing jobs (by the primary key of `job`) are not modified. JSON is passed
 * as text, so that it is preserved exactly. Every imported order queue gets an order check, because its first
 * job may arrive with another page.
 */
const IMPORT = `
WITH ${GIVEN_CTE}, input AS MATERIALIZED (
  SELECT x.* FROM given AS g, json_to_recordset(g.p -> 'jobs') AS x(${TYPED})
   WHERE ${NAMES_TRUE}
), written AS (
  INSERT INTO jobmill.job (${JOB_COLUMNS})
  SELECT id, queue_id, kind_id, priority, max_attempts, payload::json, enqueued_at, timeout_ms, tags, metadata::json, dedupe_key, hold_ms,
         hold_after, order_key, group_name
    FROM input ORDER BY id
  ON CONFLICT (id) DO NOTHING RETURNING id
), fresh AS MATERIALIZED (
  SELECT input.* FROM input JOIN written ON written.id = input.id
), to_later AS (
  INSERT INTO jobmill.later (due_at, id, queue_id, kind_id, tries, priority, attempt, crashes, flags)
  SELECT due_at, id, queue_id, kind_id, tries, priority, attempt, crashes, flags FROM fresh WHERE state = ${scheduled} AND NOT in_order_queue AND NOT in_group
), to_line AS (
  INSERT INTO jobmill.order_queue (queue_id, order_key, pos, id, due_at, kind_id, tries, priority, flags, attempt, crashes)
  SELECT queue_id, CASE WHEN in_group THEN ${GROUP_MARK} || group_name ELSE order_key END, place, id, due_at, kind_id, tries, priority, flags, attempt, crashes
    FROM fresh WHERE in_order_queue OR in_group
  RETURNING queue_id, order_key
), called AS (
  INSERT INTO jobmill.order_check (queue_id, order_key) SELECT DISTINCT queue_id, order_key FROM to_line
), to_ready AS (
  INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
  SELECT queue_id, priority, CASE WHEN (SELECT q.group_fair FROM jobmill.queue AS q WHERE q.id = f.queue_id) AND group_name IS NOT NULL
                                  THEN jobmill.in_group(jobmill.group_start(queue_id, group_name), place) ELSE place END, id, ready_at, kind_id, tries, attempt, crashes, flags FROM fresh AS f WHERE state = ${ready}
), slots AS (
  INSERT INTO jobmill.group_slot (queue_id, name, job_id) SELECT queue_id, group_name, id FROM fresh WHERE has_passed
), turns AS (
  INSERT INTO jobmill.order_lock (queue_id, order_key, job_id) SELECT queue_id, order_key, id FROM fresh WHERE has_order_lock
), recorded AS (
  INSERT INTO jobmill.attempt (job_id, token, instance, started_at, ended_at, queue_id, attempt, spent, crashes, outcome, ended_as, tries,
                               taken_back, error, result, log)
  SELECT f.id, a.token, a.instance, a.started_at, a.ended_at, f.queue_id, a.attempt, CASE WHEN a.ended_as IS NULL THEN a.attempt ELSE f.attempt END,
         CASE WHEN a.ended_as IS NULL THEN 0 ELSE f.crashes END, a.outcome, a.ended_as, a.n, a.taken_back, a.error,
         CASE WHEN a.ended_as IS NOT NULL THEN f.result::json END, a.log
    FROM fresh AS f CROSS JOIN LATERAL json_to_recordset(f.attempts) AS a(${ATTEMPT_TYPED})
), stepped AS (
  INSERT INTO jobmill.step (job_id, name, place, kind, token, started_at, ended_at, due_at, events, result, checkpoint)
  SELECT f.id, s.name, s.place, s.kind, s.token, s.started_at, s.ended_at, s.due_at, s.events, s.result, s.checkpoint
    FROM fresh AS f CROSS JOIN LATERAL json_to_recordset(f.steps) AS s(${STEP_TYPED})
), sent AS (
  INSERT INTO jobmill.job_event (job_id, id, name, payload, sent_at, step)
  SELECT f.id, e.id, e.name, e.payload, e.sent_at, e.step
    FROM fresh AS f CROSS JOIN LATERAL json_to_recordset(f.events) AS e(${EVENT_TYPED})
), parented AS (
  INSERT INTO jobmill.child (id, parent_id, step, place, ended_as, result, error)
  SELECT c.id, f.id, c.step, c.place, c.ended_as, c.result, c.error
    FROM fresh AS f CROSS JOIN LATERAL json_to_recordset(f.children) AS c(${CHILD_TYPED})
), called_waits AS (
  INSERT INTO jobmill.wake (job_id)
  SELECT id FROM fresh WHERE json_array_length(events) + json_array_length(children) > 0 AND state = ${scheduled}
), tagged AS (
  INSERT INTO jobmill.job_tag (tag, job_id) SELECT unnest(tags), id FROM fresh ON CONFLICT DO NOTHING
), tallied AS (
  INSERT INTO jobmill.tally (queue_id, to_state, n) SELECT queue_id, state, count(*) FROM fresh GROUP BY 1, 2
)
SELECT count(*)::int4 AS jobs, ${NAMES_TRUE} AS names_true FROM fresh`

export async function jobsIn(context: Context, jobs: readonly TransferredJob[]): Promise<number> {
  if (jobs.length === 0) return 0
  await ensureNames(
    context,
    jobs.map((job) => ({ queue: job.queue, kind: storedKind(job) })),
  )
  const map = context.names.current
  const fields = { names: map.version, jobs: jobs.map((job) => rowOf(map, job)) }
  const written = await askOne<{ jobs: number; names_true: boolean | null }>(context, IMPORT, fields)
  if (written.names_true !== true) throw new NamesChanged()
  return written.jobs
}

function rowOf(map: NameMap, job: TransferredJob): object {
  const {
    holdAfter,
    orderKey,
    waitsForOrder: in_order_queue,
    waitsForGroup: in_group,
    group,
    hasPassed,
    hasOrderLock,
    tags,
    attempts,
    steps,
    events,
    children,
    isChild,
  } = job
  return {
    ...columnsOf(job),
    queue_id: map.queues.id(job.queue),
    kind_id: map.kinds.id(storedKind(job)),
    tags: tags.length === 0 ? null : tags,
    state: STATE_CODE[job.state],
    in_order_queue,
    in_group,
    group_name: group,
    // Only used to detect jobs that may have too many attempts.
    tries: attempts.length,
    flags:
      (isHeldUntilEnd(holdAfter) ? KEYED : 0) +
      (holdAfter === 'started' ? KEYED | FREES_KEY : 0) +
      (orderKey === null ? 0 : ORDERED) +
      (hasOrderLock ? HAS_ORDER_LOCK : 0) +
      (group !== null && (hasPassed || job.state === 'scheduled') ? GROUPED : 0) +
      (hasPassed ? HAS_PASSED : 0) +
      (steps.length > 0 ? HAS_STEPS : 0) +
      (isChild ? IS_CHILD : 0),
    steps: steps.map(stepRow),
    events: events.map(columnsOf),
    children: children.map(childRow),
    attempts: attempts.map((attempt, at) => attemptRow(job, attempt, at + 1)),
  }
}

function stepRow(step: TransferredStep): object {
  const { kind, events } = step
  return { ...columnsOf(step), kind: STEP_KINDS.indexOf(kind), events: events.length === 0 ? null : events }
}

function childRow(child: ChildRecord): object {
  return { ...columnsOf(child), ended_as: child.endedAs === null ? null : STATE_CODE[child.endedAs] }
}

/** The last attempt of an ended job records its final state. */
function attemptRow(job: TransferredJob, attempt: TransferredAttempt, n: number): object {
  return {
    ...columnsOf(attempt),
    n,
    outcome: outcomeCode(attempt.outcome),
    ended_as: isEnded(job.state) && n === job.attempts.length ? STATE_CODE[job.state] : null,
  }
}
