/**
 * Moves jobs from ready to running: one statement leases jobs of all queues to one instance. Queues with a
 * limit take a separate path.
 */
import type { ClaimRequest, Lease } from '../../store/types/claim.ts'
import { claimLimited } from './claim-limited.ts'
import { byOrder, claimReady } from './claim-ready.ts'
import type { Placed } from './claim-rows.ts'
import { claimFields, claimStatement, leaseOf, leaseRows } from './claim-statement.ts'
import type { Row } from '../connection/connection.ts'
import { type Context, run } from '../context.ts'
import { limitedQueues } from './limited.ts'

/** The leases from queues without a limit, and the reply's data about queues with one. */
interface Free {
  readonly placed: readonly Placed[]
  readonly reply: Row
}

export async function claim(context: Context, request: ClaimRequest): Promise<Lease[]> {
  context.forgetNotifications(request.queues.map(({ queue }) => queue))
  // A handle that has seen a limit asks for limits in the same statement.
  if (request.quarantined === 'only' || context.met.limited)
    return withLimited(context, request, await claimGeneral(context, request))
  const { leases, placed, hasLimited } = await claimReady(context, request)
  if (!hasLimited || leases.length === request.limit) return leases
  return withLimited(context, request, { placed: placed(), reply: { has_limited: true } })
}

async function withLimited(
  context: Context,
  request: ClaimRequest,
  { placed, reply }: Free,
): Promise<Lease[]> {
  const left = (request.quarantined === 'only' ? 1 : request.limit) - placed.length
  const more = left === 0 ? [] : await moreLeases(context, { ...request, limit: left }, reply, placed)
  const all = more.length === 0 ? placed : [...placed, ...more].toSorted(byOrder)
  return all.map(({ lease }) => lease)
}

async function claimGeneral(context: Context, request: ClaimRequest): Promise<Free> {
  const rows = await run(
    context,
    context.connection.query,
    claimStatement(context, request.limit, request.quarantined, 'free'),
    claimFields(request, request.queues, null),
  )
  return { placed: placedOf(leaseRows(rows)), reply: rows[0] ?? {} }
}

function placedOf(rows: readonly Row[]): Placed[] {
  return rows.map((row) => ({ lease: leaseOf(row), seq: Number(row['seq']) }))
}

/**
 * The earlier leases are committed, so a failure here must not fail the claim. If this claim committed after
 * all, the instance finds the lease when it compares its jobs with the database.
 */
async function moreLeases(
  context: Context,
  request: ClaimRequest,
  reply: Row,
  free: readonly Placed[],
): Promise<readonly Placed[]> {
  try {
    const limited = await queuesWithBudget(context, request, reply)
    return limited.length === 0 ? [] : placedOf(await claimLimited(context, request, limited))
  } catch (error) {
    if (free.length === 0) throw error
    return []
  }
}

/** The queues whose limit has budget, in the order of the request. */
async function queuesWithBudget(
  context: Context,
  request: ClaimRequest,
  row: Row,
): Promise<{ queue: string; limit: string; room: number }[]> {
  const queues = request.queues.map(({ queue }) => queue)
  const limited = await limitedQueues(context, row, { queues, kinds: request.kinds })
  if (limited.length === 0) return []
  const isReady = (one: (typeof limited)[number]): boolean =>
    request.quarantined === 'only' ? one.quarantined : one.ready
  const limits = new Map(
    limited.flatMap((one) =>
      one.available > 0 && isReady(one) ? [[one.queue, one.limit.name] as const] : [],
    ),
  )
  return request.queues.flatMap(({ queue, room }) => {
    const limit = limits.get(queue)
    return limit === undefined || room === 0 ? [] : [{ queue, room, limit }]
  })
}
