/** Leases: the ready jobs that come first, over all queues asked for, become running under one new token. */
import type { ClaimRequest, Lease } from '../store/claim.ts'
import { READY, RUNNING } from './job-row.ts'
import { type Lane, mergeLanes } from './lanes.ts'
import { readyKinds, readyLaneReader, type ReadyIndex, type ReadyRow } from './ready-lanes.ts'
import type { Look, Work } from './work.ts'

// By the unique name. Reads under the write lock, so a pause that was committed is seen.
const OPEN_QUEUE = `SELECT id FROM jobmill_queue WHERE name = ? AND paused = 0 AND cool_until <= ?`
const LIVING = `SELECT pk FROM jobmill_instance WHERE id = ? AND state = 0 AND expires_at > ?`

// Both by primary key, for the whole batch at once. Nobody else can have taken these jobs: they were found ready under
// the same write lock. (One UPDATE … RETURNING per job took half as long again.)
const TAKE = `
  UPDATE jobmill_job
  SET state = 2, attempt = attempt + 1, token = ?, instance_pk = ?, started_at = ?, cancel_reason = NULL, progress = NULL,
    log = NULL
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
  const index = request.suspects === 'only' ? 'suspect' : 'ready'
  const limit = index === 'suspect' ? Math.min(1, request.limit) : request.limit
  const chosen = mergeLanes(claimLanes(work, request, index), byClaimOrder, limit)
  if (chosen.length === 0) return []
  const token = work.counters.take('token')
  const pks = JSON.stringify(chosen.map(({ pk }) => pk))
  work.sql(TAKE).run(token, instancePk, work.now, pks)
  // Sorted here: SQLite would carry the payloads through its sorter.
  const rows = (work.sql(LEASES).all(pks) as LeaseRow[]).toSorted(byClaimOrder)
  for (const row of rows) work.moves.move(row.queue_id, READY, RUNNING)
  return rows.map((row) => leaseOf(work, row, token))
}

/** Whether a claim would find something, without the write lock. */
export function mayClaim(look: Look, request: ClaimRequest): boolean {
  if (livingInstance(look, request.instance) === undefined) return false
  const queues = request.queues.filter(({ room }) => room > 0).map(({ queue }) => queue)
  return hasReady(look, queues, request.kinds, request.suspects === 'only' ? 'suspect' : 'ready')
}

/** Whether a living instance with these queues and kinds would find something. */
export function hasReady(
  look: Look,
  queues: readonly string[],
  kinds: readonly string[],
  index: ReadyIndex,
): boolean {
  const wanted = kindIds(look, kinds)
  for (const queue of queues) {
    const queueId = openQueue(look, queue)
    if (queueId === undefined) continue
    for (const kindId of readyKinds(look.sql, index, queueId)) if (wanted.has(kindId)) return true
  }
  return false
}

function claimLanes(look: Look, request: ClaimRequest, index: ReadyIndex): Lane<ReadyRow>[] {
  const wanted = kindIds(look, request.kinds)
  // The order and the key are in the index itself, so choosing reads no job.
  const lane = readyLaneReader(look.sql, index, 'pk, queue_id, priority, seq')
  const lanes: Lane<ReadyRow>[] = []
  for (const [queue, left] of roomByQueue(request)) {
    const queueId = left > 0 ? openQueue(look, queue) : undefined
    if (queueId === undefined) continue
    const room = { left }
    for (const kindId of readyKinds(look.sql, index, queueId)) {
      if (wanted.has(kindId)) lanes.push({ ...lane<ReadyRow>(queueId, kindId), room })
    }
  }
  return lanes
}

function roomByQueue(request: ClaimRequest): Map<string, number> {
  const rooms = new Map<string, number>()
  for (const { queue, room } of request.queues) rooms.set(queue, (rooms.get(queue) ?? 0) + room)
  return rooms
}

type Placed = Pick<ReadyRow, 'priority' | 'seq'>

function byClaimOrder(a: Placed, b: Placed): number {
  return a.priority - b.priority || a.seq - b.seq
}

function livingInstance({ sql, now }: Look, id: string): number | undefined {
  return (sql(LIVING).get(id, now) as { pk: number } | undefined)?.pk
}

function openQueue({ sql, now }: Look, name: string): number | undefined {
  return (sql(OPEN_QUEUE).get(name, now) as { id: number } | undefined)?.id
}

function kindIds({ names }: Look, kinds: readonly string[]): Set<number> {
  const ids = new Set<number>()
  for (const kind of kinds) {
    const id = names.findKind(kind)
    if (id !== undefined) ids.add(id)
  }
  return ids
}

function leaseOf({ names }: Look, row: LeaseRow, token: number): Lease {
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
  }
}
