/** Exports jobs with everything that belongs to them. */
import { outcomeOfCode } from '../../job/attempt/outcome.ts'
import { isEnded, stateOfCode } from '../../job/state.ts'
import {
  type TransferredAttempt,
  type TransferredJob,
  fitting,
  type Page,
} from '../../store/admin/transfer.ts'
import { holdOf } from '../enqueue/dedupe.ts'
import { DONE, READY, SCHEDULED } from '../job-row.ts'
import type { Look } from '../work.ts'

// All three by jobmill_job_id, in its order; the rows of a job by its primary key. Sizes are read without the
// texts themselves.
const IDS = `SELECT id FROM jobmill_job WHERE id > ? AND state <> 2 ORDER BY id LIMIT ?`
const SIZES = `
  SELECT j.id, octet_length(j.payload) + coalesce(octet_length(j.result), 0) + coalesce((
      SELECT sum(coalesce(octet_length(a.log), 0) + coalesce(octet_length(a.error), 0))
      FROM jobmill_attempt AS a WHERE a.job_pk = j.pk), 0) AS bytes
  FROM jobmill_job AS j WHERE j.id > ? AND j.state <> 2 ORDER BY j.id LIMIT ?`
const JOB = `
  SELECT j.pk, j.id, j.queue_id, j.kind_id, j.state, j.priority, j.seq, j.attempt, j.max_attempts, j.crashes, j.in_order_queue,
    j.enqueued_at, j.due_at, j.ready_at, j.ended_at, j.timeout_ms, j.hold_ms, j.order_key, j.dedupe_key, j.tags, j.result,
    j.metadata, j.payload, EXISTS (
      SELECT 1 FROM jobmill_order_lock AS t
      WHERE t.queue_id = j.queue_id AND t.order_key = j.order_key AND t.job_pk = j.pk) AS has_order_lock
  FROM jobmill_job AS j WHERE j.id = ?`
const ATTEMPTS = `
  SELECT attempt, token, instance, started_at AS startedAt, ended_at AS endedAt, outcome, error, log, went_to
  FROM jobmill_attempt WHERE job_pk = ? ORDER BY token`

interface Row {
  readonly pk: number
  readonly id: string
  readonly queue_id: number
  readonly kind_id: number
  readonly state: number
  readonly priority: number
  readonly seq: number
  readonly attempt: number
  readonly max_attempts: number
  readonly crashes: number
  readonly in_order_queue: number
  readonly enqueued_at: number
  readonly due_at: number
  readonly ready_at: number | null
  readonly ended_at: number | null
  readonly timeout_ms: number | null
  readonly hold_ms: number
  readonly order_key: string | null
  readonly dedupe_key: string | null
  readonly tags: string | null
  readonly result: string | null
  readonly metadata: string | null
  readonly payload: string
  readonly has_order_lock: number
}

type AttemptRow = Omit<TransferredAttempt, 'outcome' | 'takenBack'> & {
  readonly outcome: number
  readonly went_to: number | null
}

export function idsOut({ sql }: Look, { after, limit }: Page<'jobs'>): string[] {
  return (sql(IDS).all(after?.id ?? '', limit) as { id: string }[]).map(({ id }) => id)
}

export function jobsOut(look: Look, { after, limit }: Page<'jobs'>): TransferredJob[] {
  const sizes = look.sql(SIZES).all(after?.id ?? '', limit) as { id: string; bytes: number }[]
  return fitting(sizes).map((id) => transferredOf(look, look.sql(JOB).get(id) as Row))
}

function transferredOf({ sql, names }: Look, row: Row): TransferredJob {
  const state = stateOfCode(row.state) as TransferredJob['state']
  const isInOrderQueue = row.in_order_queue === 1
  return {
    id: row.id,
    kind: names.kindName(row.kind_id),
    queue: names.queueName(row.queue_id),
    state,
    priority: row.priority,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    crashes: row.crashes,
    tags: row.tags === null ? [] : (JSON.parse(row.tags) as string[]),
    orderKey: row.order_key,
    waitsForOrder: isInOrderQueue,
    hasOrderLock: row.has_order_lock === 1,
    place: row.state === READY || isInOrderQueue ? row.seq : null,
    enqueuedAt: row.enqueued_at,
    dueAt: row.state === SCHEDULED ? row.due_at : null,
    readyAt: row.state === READY ? row.ready_at : null,
    endedAt: isEnded(state) ? row.ended_at : null,
    timeoutMs: row.timeout_ms,
    dedupeKey: row.dedupe_key,
    ...holdOf(row.hold_ms),
    payload: row.payload,
    metadata: row.metadata,
    result: row.state === DONE ? row.result : null,
    attempts: (sql(ATTEMPTS).all(row.pk) as AttemptRow[]).map(attemptOf),
  }
}

/** The attempt of a job that was cancelled while waiting has no instance, so it was not taken back. */
function attemptOf({ outcome, went_to: wentTo, ...attempt }: AttemptRow): TransferredAttempt {
  const takenBack = wentTo === null && attempt.instance !== null
  return { ...attempt, outcome: outcomeOfCode(outcome), takenBack }
}
