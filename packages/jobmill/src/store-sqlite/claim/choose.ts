/**
 * Chooses the ready jobs of a claim: first by priority and order over all queues without a limit, then from
 * each queue with a limit as many as its budget allows. Budgets are spent here, under the write lock.
 */
import { afterSpending } from '../../job/limit/budget.ts'
import type { ClaimRequest, Lease } from '../../store/types/claim.ts'
import { type Lane, mergeLanes } from './lanes.ts'
import { availableOf, limitOf, saveBudget, type StoredLimit } from '../limits/limit-row.ts'
import { kindIds, openQueue } from './open-queues.ts'
import { grantPermits } from '../limits/permits.ts'
import { readyKinds, readyLaneReader } from './ready-lanes.ts'
import type { Look, Work } from '../work.ts'

/** Everything that a lease contains, so that nothing is read again later. */
const READY_COLUMNS = `pk, id, queue_id, kind_id, priority, seq, attempt, max_attempts AS maxAttempts, crashes, payload,
  timeout_ms AS timeoutMs, tags, metadata, order_key AS orderKey, dedupe_key, enqueued_at AS enqueuedAt, ready_at AS readyAt, flags`

/** `attempt` is the number before the claim. */
export interface ReadyRow extends Omit<
  Lease,
  'token' | 'kind' | 'queue' | 'tags' | 'waitedMs' | 'hasSteps' | 'isChild'
> {
  readonly pk: number
  readonly queue_id: number
  readonly kind_id: number
  readonly seq: number
  readonly tags: string | null
  readonly dedupe_key: string | null
  readonly flags: number
}

interface ClaimQueue {
  readonly lanes: readonly Lane<ReadyRow>[]
  readonly room: { left: number }
  readonly limitId: number | null
}

/** `permitted` are jobs that hold a permit each. */
export function chooseJobs(work: Work, request: ClaimRequest, instancePk: number) {
  const queues = claimQueues(work, request)
  const limit = request.quarantined === 'only' ? Math.min(1, request.limit) : request.limit
  const lanes = queues.flatMap((queue) => (queue.limitId === null ? queue.lanes : []))
  const plain = mergeLanes(lanes, byClaimOrder, limit)
  const permitted: ReadyRow[] = []
  for (const { limitId, room, lanes } of queues) {
    const left = Math.min(room.left, limit - plain.length - permitted.length)
    if (limitId === null || left <= 0) continue
    // Read again for each queue, because the previous one may use the same limit.
    const budget = limitOf(work.sql, limitId)
    const rows = mergeLanes(lanes, byClaimOrder, Math.min(left, availableOf(work, budget)))
    if (rows.length === 0) continue
    spend(work, budget, rows, instancePk)
    if (budget.settings.type === 'rate') plain.push(...rows)
    else permitted.push(...rows)
  }
  return { plain, permitted }
}

function spend(work: Work, limit: StoredLimit, rows: readonly ReadyRow[], instancePk: number): void {
  const { id, settings, budget } = limit
  const pks = rows.map(({ pk }) => pk)
  if (settings.type === 'rate') saveBudget(work, id, afterSpending(settings, budget, pks.length, work.now))
  else grantPermits(work, id, pks, instancePk)
}

/** The free worker slots of a request per queue; a queue that is listed twice adds up. */
export function roomByQueue(queues: ClaimRequest['queues']): Map<string, number> {
  const rooms = new Map<string, number>()
  for (const { queue, room } of queues) rooms.set(queue, (rooms.get(queue) ?? 0) + room)
  return rooms
}

/** The queues to claim from, in the order of the request. */
function claimQueues(look: Look, request: ClaimRequest): ClaimQueue[] {
  const index = request.quarantined === 'only' ? 'quarantined' : 'ready'
  const wanted = kindIds(look, request.kinds)
  const lane = readyLaneReader(look.sql, index, READY_COLUMNS)
  return [...roomByQueue(request.queues)].flatMap(([name, left]) => {
    const queue = left > 0 ? openQueue(look, name) : undefined
    if (queue === undefined) return []
    const room = { left }
    const lanes = [...readyKinds(look.sql, index, queue.id)]
      .filter((kindId) => wanted.has(kindId))
      .map((kindId) => ({ ...lane<ReadyRow>(queue.id, kindId), room }))
    return [{ lanes, room, limitId: queue.limit_id }]
  })
}

type Placed = Pick<ReadyRow, 'priority' | 'seq'>

export function byClaimOrder(a: Placed, b: Placed): number {
  return a.priority - b.priority || a.seq - b.seq
}
