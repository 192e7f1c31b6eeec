/**
 * Chooses the ready jobs of a claim: first by priority and order over all queues without a limit, then from
 * each queue with a limit as many as its budget allows. Budgets are spent here, under the write lock.
 */
import { afterSpending } from '../../job/limit/budget.ts'
import type { ClaimRequest } from '../../store/types/claim.ts'
import { type Lane, mergeLanes } from './lanes.ts'
import { availableOf, limitOf, saveBudget, type StoredLimit } from '../limits/limit-row.ts'
import { kindIds, openQueue } from './open-queues.ts'
import { grantPermits } from '../limits/permits.ts'
import { readyKinds, readyLaneReader } from './ready-lanes.ts'
import { fairClaim } from '../groups/fair-claim.ts'
import { FIRST_TURN } from '../../store/take-turns.ts'
import type { QueueTurn, Work } from '../work.ts'
import { byClaimOrder, READY_COLUMNS, type ReadyRow } from './ready-row.ts'

interface ClaimQueue {
  readonly id: number
  readonly name: string
  readonly lanes: readonly Lane<ReadyRow>[]
  readonly room: { left: number }
  readonly limitId: number | null
  /** Takes jobs of its groups in turn. Undefined for a queue that is not fair. */
  readonly takeTurns: ((room: number) => ReadyRow[]) | undefined
}

/** `permitted` are jobs that hold a permit each, and `fair` the names of the fair queues. */
export function chooseJobs(work: Work, request: ClaimRequest, instancePk: number) {
  const queues = claimQueues(work, request)
  const limit = request.quarantined === 'only' ? Math.min(1, request.limit) : request.limit
  const free = queues.filter(({ limitId }) => limitId === null)
  const total = free.reduce((sum, { room }) => sum + room.left, 0)
  const lanes = free.flatMap((queue) => (queue.takeTurns === undefined ? queue.lanes : []))
  const others = mergeLanes(lanes, byClaimOrder, limit)
  const fair = chooseFair(work, free, { limit, total, others: others.length })
  const plain = [...fair, ...others.slice(0, limit - fair.length)]
  const permitted: ReadyRow[] = []
  for (const { limitId, room, lanes, takeTurns } of queues) {
    const left = Math.min(room.left, limit - plain.length - permitted.length)
    if (limitId === null || left <= 0) continue
    // Read again for each queue, because the previous one may use the same limit.
    const budget = limitOf(work.sql, limitId)
    const most = Math.min(left, availableOf(work, budget))
    const rows = takeTurns?.(most) ?? mergeLanes(lanes, byClaimOrder, most)
    if (rows.length === 0) continue
    spend(work, budget, rows, instancePk)
    if (budget.settings.type === 'rate') plain.push(...rows)
    else permitted.push(...rows)
  }
  const names = queues.flatMap(({ name, takeTurns }) => (takeTurns === undefined ? [] : [name]))
  return { plain, permitted, fair: new Set(names) }
}

/**
 * The jobs of the fair queues. If not all queues fit into the claim, each fair queue gets its part of it.
 * What rounding takes away counts for the next claim, so that claims of one job serve each queue in turn.
 */
function chooseFair(
  { turns }: Work,
  queues: readonly ClaimQueue[],
  { limit, total, others }: { readonly limit: number; readonly total: number; readonly others: number },
): ReadyRow[] {
  const rows: ReadyRow[] = []
  for (const { id, room, takeTurns } of queues) {
    if (takeTurns === undefined) continue
    const { rest = 0, ...turn } = (turns.get(id) ?? FIRST_TURN) as Partial<QueueTurn> & typeof FIRST_TURN
    const exact = total > limit ? (limit * room.left) / total + rest : room.left
    const part = Math.floor(exact)
    turns.set(id, { ...turn, rest: exact - part })
    const left = limit - rows.length
    rows.push(...takeTurns(Math.min(room.left, left, Math.max(left - others, part))))
  }
  return rows
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
function claimQueues(work: Work, request: ClaimRequest): ClaimQueue[] {
  const index = request.quarantined === 'only' ? 'quarantined' : 'ready'
  const wanted = kindIds(work, request.kinds)
  const lane = readyLaneReader(work.sql, index, READY_COLUMNS)
  return [...roomByQueue(request.queues)].flatMap(([name, left]) => {
    const queue = left > 0 ? openQueue(work, name) : undefined
    if (queue === undefined) return []
    const room = { left }
    const kinds = [...readyKinds(work.sql, index, queue.id)].filter((kindId) => wanted.has(kindId))
    const lanes = kinds.map((kindId) => ({ ...lane<ReadyRow>(queue.id, kindId), room }))
    const takeTurns = queue.group_fair === 1 ? fairClaim(work, queue.id, kinds, lane) : undefined
    return [{ id: queue.id, name, lanes, room, limitId: queue.limit_id, takeTurns }]
  })
}
