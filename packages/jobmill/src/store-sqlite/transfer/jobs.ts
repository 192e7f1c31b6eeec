/**
 * Exports and imports jobs with everything that belongs to them. An import writes each row as if the job had
 * always been in this database, under the write lock, so that counters and order queues are correct at the
 * commit.
 */
import { outcomeOfCode } from '../../job/attempt/outcome.ts'
import { storedKind } from '../../job/kind/kind-name.ts'
import { STATE_CODE } from '../../job/state.ts'
import {
  fitting,
  type Page,
  TRANSFERRED_PLACES,
  type TransferredAttempt,
  type TransferredJob,
} from '../../store/admin/transfer.ts'
import { groupJoined, orderQueueChanged } from '../enqueue/order-queue.ts'
import { joinGroup, placeIn, turnOf } from '../groups/turns.ts'
import { addTags, tagsText } from '../enqueue/tags.ts'
import { recordAttempts } from '../finish/attempts.ts'
import { ATTEMPT, type AttemptRow, type Coded, decode } from '../inspect/jobs.ts'
import {
  CANCELLED,
  DEAD,
  FREES_KEY,
  HAS_EVENTS,
  HAS_PASSED,
  HAS_STEPS,
  IN_GROUP,
  IN_ORDER_QUEUE,
  IS_CHILD,
  SCHEDULED,
} from '../job-row.ts'
import { wakeIfArrived } from '../steps/send.ts'
import { stepsIn, stepsOut } from '../steps/step-rows.ts'
import type { Look, Work } from '../work.ts'

// All three use jobmill_job_id, in its order, and the primary key for the rows of a job. Sizes are read
// without the texts.
const IDS = `SELECT id FROM jobmill_job WHERE id > ? AND state <> 2 ORDER BY id LIMIT ?`
const SIZES = `
  SELECT j.id, octet_length(j.payload) + coalesce(octet_length(j.result), 0) + coalesce((
      SELECT sum(coalesce(octet_length(a.log), 0) + coalesce(octet_length(a.error), 0))
      FROM jobmill_attempt AS a WHERE a.job_pk = j.pk), 0) + iif(j.flags & ${HAS_STEPS}, coalesce((
      SELECT sum(coalesce(octet_length(s.result), 0) + coalesce(octet_length(s.checkpoint), 0))
      FROM jobmill_step AS s WHERE s.job_pk = j.pk), 0), 0) AS bytes
  FROM jobmill_job AS j WHERE j.id > ? AND j.state <> 2 ORDER BY j.id LIMIT ?`
// Columns that are meaningless in the state of the job are null.
const JOB = `
  SELECT j.pk, j.flags, j.id, j.queue_id, j.kind_id, j.state, j.priority, j.attempt, j.max_attempts AS maxAttempts, j.crashes,
    j.in_order_queue AS waitsIn, CASE WHEN j.state = 1 AND j.seq < 0 THEN j.seq % ${TRANSFERRED_PLACES} + ${TRANSFERRED_PLACES}
      WHEN j.state = 1 OR j.in_order_queue > 0 THEN j.seq END AS place, j.flags & ${HAS_PASSED} AS hasPassed,
    j.enqueued_at AS enqueuedAt, iif(j.state = 0, j.due_at, NULL) AS dueAt, iif(j.state = 1, j.ready_at, NULL) AS readyAt,
    iif(j.state >= 3, j.ended_at, NULL) AS endedAt, j.timeout_ms AS timeoutMs, j.hold_ms AS holdMs, j.hold_after AS holdAfter,
    j.order_key AS orderKey, j.group_name AS "group", j.dedupe_key AS dedupeKey, j.tags, iif(j.state = 3, j.result, NULL) AS result, j.metadata,
    j.payload, EXISTS (
      SELECT 1 FROM jobmill_order_lock AS t
      WHERE t.queue_id = j.queue_id AND t.order_key = j.order_key AND t.job_pk = j.pk) AS hasOrderLock
  FROM jobmill_job AS j WHERE j.id = ?`
const ATTEMPTS = `SELECT ${ATTEMPT}, a.went_to FROM jobmill_attempt AS a WHERE a.job_pk = ? ORDER BY a.token`

type StoredAttempt = AttemptRow & { readonly went_to: number | null }
type Row = Omit<
  TransferredJob,
  | 'kind'
  | 'queue'
  | 'waitsForOrder'
  | 'waitsForGroup'
  | 'attempts'
  | 'hasOrderLock'
  | 'hasPassed'
  | 'steps'
  | 'events'
  | 'children'
  | 'isChild'
  | keyof Coded
> &
  Coded & {
    readonly pk: number
    readonly flags: number
    readonly hasOrderLock: number
    readonly hasPassed: number
  }

export function idsOut({ sql }: Look, { after, limit }: Page<'jobs'>): string[] {
  return (sql(IDS).all(after?.id ?? '', limit) as { id: string }[]).map(({ id }) => id)
}

export function jobsOut(look: Look, { after, limit }: Page<'jobs'>): TransferredJob[] {
  const sizes = look.sql(SIZES).all(after?.id ?? '', limit) as { id: string; bytes: number }[]
  return fitting(sizes).map((id) => transferredOf(look, look.sql(JOB).get(id) as Row))
}

function transferredOf(look: Look, { pk, flags, hasOrderLock, hasPassed, ...row }: Row): TransferredJob {
  const job = decode(look, row)
  return {
    ...job,
    state: job.state as TransferredJob['state'],
    hasOrderLock: hasOrderLock === 1,
    hasPassed: hasPassed !== 0,
    ...stepsOut(look.sql, { pk, flags }),
    isChild: (flags & IS_CHILD) !== 0,
    attempts: (look.sql(ATTEMPTS).all(pk) as StoredAttempt[]).map(attemptOf),
  }
}

/** The attempt of a job that was cancelled while waiting has no instance, so it was not taken back. */
function attemptOf({ outcome, went_to: wentTo, ...attempt }: StoredAttempt): TransferredAttempt {
  const takenBack = wentTo === null && attempt.instance !== null
  return { ...attempt, outcome: outcomeOfCode(outcome), takenBack }
}

// Uses jobmill_job_id: an existing job was imported before. The others use their primary keys.
const INSERT = `
  INSERT INTO jobmill_job (id, queue_id, kind_id, state, priority, seq, attempt, max_attempts, crashes, in_order_queue, records, token,
    enqueued_at, due_at, ready_at, ended_at, timeout_ms, hold_ms, hold_after, order_key, group_name, dedupe_key, tags, result, metadata,
    payload, flags)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO NOTHING`
const ORDER_LOCK = `INSERT INTO jobmill_order_lock (queue_id, order_key, job_pk) VALUES (?, ?, ?)`

export function jobsIn(work: Work, jobs: readonly TransferredJob[]): number {
  return jobs.filter((job) => jobIn(work, job)).length
}

/** False when the job already exists. */
function jobIn(work: Work, job: TransferredJob): boolean {
  const { sql, names, moves } = work
  const { tags, attempts, hasOrderLock } = job
  const queueId = names.needQueue(job.queue)
  const { changes, lastInsertRowid } = sql(INSERT).run(
    job.id,
    queueId,
    names.needKind(storedKind(job)),
    STATE_CODE[job.state],
    job.priority,
    placeOf(work, queueId, job),
    job.attempt,
    job.maxAttempts,
    job.crashes,
    job.waitsForOrder ? IN_ORDER_QUEUE : job.waitsForGroup ? IN_GROUP : 0,
    attempts.length,
    attempts.at(-1)?.token ?? 0,
    job.enqueuedAt,
    // Meaningful only while the job is scheduled.
    job.dueAt ?? job.readyAt ?? job.enqueuedAt,
    job.readyAt,
    job.endedAt,
    job.timeoutMs,
    job.holdMs,
    job.holdAfter,
    job.orderKey,
    job.group,
    job.dedupeKey,
    tagsText(tags),
    job.result,
    job.metadata,
    job.payload,
    (job.steps.length > 0 ? HAS_STEPS : 0) |
      (job.events.length > 0 ? HAS_EVENTS : 0) |
      (job.isChild ? IS_CHILD : 0) |
      (job.hasPassed ? HAS_PASSED : 0) |
      (job.holdAfter === 'started' ? FREES_KEY : 0),
  )
  if (changes === 0) return false
  const pk = Number(lastInsertRowid)
  recordAttempts(
    sql,
    attempts.map((attempt) => ({
      job: { pk, attempt: attempt.attempt, records: 0 },
      ending: { ...attempt, wentTo: wentTo(job, attempt) },
    })),
  )
  stepsIn(work, pk, job)
  addTags(sql, job.id, tags)
  moves.move(queueId, null, STATE_CODE[job.state])
  wakeIfArrived(work, job.id)
  if (job.hasPassed && job.group !== null) joinGroup(work, queueId, job.group, 1)
  if (job.waitsForGroup) groupJoined(work, queueId, job.group)
  if (job.orderKey === null) return true
  if (hasOrderLock) sql(ORDER_LOCK).run(queueId, job.orderKey, pk)
  // Jobs arrive by id, so the first of an order queue may arrive last.
  if (hasOrderLock || job.waitsForOrder) orderQueueChanged(work, queueId, job.orderKey)
  return true
}

/** In a fair queue, the place of a ready job begins with the number that its group has in this file. */
function placeOf(work: Work, queueId: number, { state, group, place }: TransferredJob): number {
  return state === 'ready' ? placeIn(turnOf(work, queueId, group), place ?? 0) : (place ?? 0)
}

/**
 * The answer to a retried finish. For an attempt that did not end its job, PostgreSQL knows only that it was
 * written.
 */
function wentTo(job: TransferredJob, attempt: TransferredAttempt): number | null {
  if (attempt.takenBack || attempt.instance === null) return null
  if (job.endedAt !== null && attempt === job.attempts.at(-1)) return STATE_CODE[job.state]
  // The job ended before it was retried.
  if (attempt.outcome === 'failed-permanently') return DEAD
  return attempt.outcome === 'cancelled' ? CANCELLED : SCHEDULED
}
