/**
 * Imports jobs: writes each row as if the job had always been in this database. Under the write lock, so that
 * counters and order queues are correct at the commit.
 */
import { outcomeCode } from '../../job/attempt/outcome.ts'
import { STATE_CODE } from '../../job/state.ts'
import type { TransferredAttempt, TransferredJob } from '../../store/admin/transfer.ts'
import { keptHold } from '../enqueue/dedupe.ts'
import { CANCELLED, DEAD, SCHEDULED } from '../job-row.ts'
import { orderQueueChanged } from '../enqueue/order-queue.ts'
import type { Work } from '../work.ts'

// By jobmill_job_id: an existing job was imported before. The others by their primary keys.
const INSERT = `
  INSERT INTO jobmill_job (id, queue_id, kind_id, state, priority, seq, attempt, max_attempts, crashes, in_order_queue, records, token,
    enqueued_at, due_at, ready_at, ended_at, timeout_ms, hold_ms, order_key, dedupe_key, tags, result, metadata, payload)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO NOTHING`
const ATTEMPT = `
  INSERT INTO jobmill_attempt (job_pk, token, attempt, outcome, started_at, ended_at, went_to, instance, error, log)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const TAG = `INSERT OR IGNORE INTO jobmill_tag (tag, id) VALUES (?, ?)`
const ORDER_LOCK = `INSERT INTO jobmill_order_lock (queue_id, order_key, job_pk) VALUES (?, ?, ?)`

export function jobsIn(work: Work, jobs: readonly TransferredJob[]): number {
  return jobs.filter((job) => jobIn(work, job)).length
}

/** False when the job already exists. */
function jobIn(work: Work, job: TransferredJob): boolean {
  const { sql, names, moves } = work
  const [queueId, kindId] = [names.needQueue(job.queue), names.needKind(job.kind)]
  const pk = insert(work, job, queueId, kindId)
  if (pk === undefined) return false
  for (const attempt of job.attempts) attemptIn(work, pk, job, attempt)
  for (const tag of job.tags) sql(TAG).run(tag, job.id)
  moves.move(queueId, null, STATE_CODE[job.state])
  if (job.orderKey === null) return true
  if (job.hasOrderLock) sql(ORDER_LOCK).run(queueId, job.orderKey, pk)
  // Jobs arrive by id, so the first of an order queue may arrive last.
  if (job.hasOrderLock || job.waitsForOrder) orderQueueChanged(work, queueId, job.orderKey)
  return true
}

function insert({ sql }: Work, job: TransferredJob, queueId: number, kindId: number): number | undefined {
  const { changes, lastInsertRowid } = sql(INSERT).run(
    job.id,
    queueId,
    kindId,
    STATE_CODE[job.state],
    job.priority,
    job.place ?? 0,
    job.attempt,
    job.maxAttempts,
    job.crashes,
    Number(job.waitsForOrder),
    job.attempts.length,
    job.attempts.at(-1)?.token ?? 0,
    job.enqueuedAt,
    // Meaningful only while the job is scheduled.
    job.dueAt ?? job.readyAt ?? job.enqueuedAt,
    job.readyAt,
    job.endedAt,
    job.timeoutMs,
    keptHold(job),
    job.orderKey,
    job.dedupeKey,
    job.tags.length === 0 ? null : JSON.stringify(job.tags),
    job.result,
    job.metadata,
    job.payload,
  )
  return changes === 0 ? undefined : Number(lastInsertRowid)
}

function attemptIn({ sql }: Work, pk: number, job: TransferredJob, attempt: TransferredAttempt): void {
  sql(ATTEMPT).run(
    pk,
    attempt.token,
    attempt.attempt,
    outcomeCode(attempt.outcome),
    attempt.startedAt,
    attempt.endedAt,
    wentTo(job, attempt),
    attempt.instance,
    attempt.error,
    attempt.log,
  )
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
