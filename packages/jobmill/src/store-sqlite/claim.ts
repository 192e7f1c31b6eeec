/** Leases: the ready jobs that come first, over all queues asked for, become running under one new token. */
import type { ClaimRequest, Lease } from '../store/claim.ts'
import { byClaimOrder, chooseJobs } from './choose.ts'
import { READY, RUNNING } from './job-row.ts'
import { livingInstance } from './living.ts'
import { readyWork } from './open-queues.ts'
import type { ReadyRow } from './ready-lanes.ts'
import type { Look, Work } from './work.ts'

// Both by primary key, for the whole batch at once. Nobody else can have taken these jobs: they were found ready under
// the same write lock. (One UPDATE … RETURNING per job took half as long again.)
const TAKE = `
  UPDATE jobmill_job
  SET state = 2, attempt = attempt + 1, token = ?, instance_pk = ?, started_at = ?, cancel_reason = NULL, progress = NULL,
    log = NULL, permits = ?
  WHERE pk IN (SELECT value FROM json_each(?))`
const LEASES = `
  SELECT j.id, j.kind_id, j.queue_id, j.priority, j.seq, j.attempt, j.max_attempts, j.crashes, j.payload, j.timeout_ms, j.tags,
    j.metadata, j.order_key, j.enqueued_at, j.ready_at
  FROM json_each(?) AS chosen CROSS JOIN jobmill_job AS j ON j.pk = chosen.value`

interface LeaseRow {
  readonly id: string
  readonly kind_id: number
  readonly queue_id: number
  readonly priority: number
  readonly seq: number
  readonly attempt: number
  readonly max_attempts: number
  readonly crashes: number
  readonly payload: string
  readonly timeout_ms: number | null
  readonly tags: string | null
  readonly metadata: string | null
  readonly order_key: string | null
  readonly enqueued_at: number
  readonly ready_at: number
}

export function claim(work: Work, request: ClaimRequest): Lease[] {
  const instancePk = livingInstance(work, request.instance)
  if (instancePk === undefined) return []
  const { plain, permitted } = chooseJobs(work, request, instancePk)
  if (plain.length + permitted.length === 0) return []
  const token = work.counters.take('token')
  const take = (rows: readonly ReadyRow[], permits: 0 | 1): void => {
    if (rows.length > 0) work.sql(TAKE).run(token, instancePk, work.now, permits, pksOf(rows))
  }
  take(plain, 0)
  take(permitted, 1)
  // Sorted here: SQLite would carry the payloads through its sorter.
  const rows = work.sql(LEASES).all(pksOf([...plain, ...permitted])) as LeaseRow[]
  for (const row of rows) work.moves.move(row.queue_id, READY, RUNNING)
  return rows.toSorted(byClaimOrder).map((row) => leaseOf(work, row, token))
}

function pksOf(rows: readonly ReadyRow[]): string {
  return JSON.stringify(rows.map(({ pk }) => pk))
}

/** Whether a claim would find something, without the write lock. */
export function mayClaim(look: Look, request: ClaimRequest): boolean {
  if (livingInstance(look, request.instance) === undefined) return false
  const queues = request.queues.filter(({ room }) => room > 0).map(({ queue }) => queue)
  const { ready, suspect } = readyWork(look, queues, request.kinds)
  return request.suspects === 'only' ? suspect : ready
}

function leaseOf({ now, names }: Look, row: LeaseRow, token: number): Lease {
  return {
    id: row.id,
    token,
    kind: names.kindName(row.kind_id),
    queue: names.queueName(row.queue_id),
    priority: row.priority,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    crashes: row.crashes,
    payload: row.payload,
    timeoutMs: row.timeout_ms,
    tags: row.tags === null ? [] : (JSON.parse(row.tags) as string[]),
    metadata: row.metadata,
    orderKey: row.order_key,
    enqueuedAt: row.enqueued_at,
    readyAt: row.ready_at,
    waitedMs: now - row.ready_at,
  }
}
