/** Ready → running: the leases of one instance, over all its queues, in one statement; queues with a limit by a path of their own. */
import type { ClaimRequest, Lease } from '../store/claim.ts'
import { claimLimited } from './claim-limited.ts'
import { byOrder, claimReady } from './claim-ready.ts'
import type { Placed } from './claim-rows.ts'
import { claimFields, claimStatement, leased, leaseOf } from './claim-statement.ts'
import type { Row } from './connection.ts'
import { type Context, run } from './context.ts'
import { limitedQueues } from './limited.ts'

/** What a claim from queues without a limit got, and what it tells of those with one. */
interface Free {
  readonly placed: readonly Placed[]
  readonly told: Row
}

export async function claim(context: Context, request: ClaimRequest): Promise<Lease[]> {
  context.heard(request.queues.map(({ queue }) => queue))
  // A handle that has met a limit asks about limits with the rest, in one statement.
  if (request.quarantined === 'only' || context.met.limited)
    return withLimited(context, request, await claimGeneral(context, request))
  const { leases, placed, hasLimited } = await claimReady(context, request)
  if (!hasLimited || leases.length === request.limit) return leases
  return withLimited(context, request, { placed: placed(), told: { has_limited: true } })
}

async function withLimited(
  context: Context,
  request: ClaimRequest,
  { placed, told }: Free,
): Promise<Lease[]> {
  const left = (request.quarantined === 'only' ? 1 : request.limit) - placed.length
  const more = left === 0 ? [] : await moreLeases(context, { ...request, limit: left }, told, placed)
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
  return { placed: placedOf(leased(rows)), told: rows[0] ?? {} }
}

function placedOf(rows: readonly Row[]): Placed[] {
  return rows.map((row) => ({ lease: leaseOf(row), seq: Number(row['seq']) }))
}

/**
 * What was claimed before is committed, and a claim that fails has changed nothing: so it does not fail for what more there could have been. A lease that
 * came of it all the same is found when the instance compares what it holds.
 */
async function moreLeases(
  context: Context,
  request: ClaimRequest,
  told: Row,
  free: readonly Placed[],
): Promise<readonly Placed[]> {
  try {
    const limited = await worthIt(context, request, told)
    return limited.length === 0 ? [] : placedOf(await claimLimited(context, request, limited))
  } catch (error) {
    if (free.length === 0) throw error
    return []
  }
}

/** The queues whose limit has something, in the order of the request. */
async function worthIt(
  context: Context,
  request: ClaimRequest,
  row: Row,
): Promise<{ queue: string; limit: string; room: number }[]> {
  const queues = request.queues.map(({ queue }) => queue)
  const told = await limitedQueues(context, row, { queues, kinds: request.kinds })
  if (told.length === 0) return []
  const isReady = (one: (typeof told)[number]): boolean =>
    request.quarantined === 'only' ? one.quarantined : one.ready
  const limits = new Map(
    told.flatMap((one) => (one.available > 0 && isReady(one) ? [[one.queue, one.limit.name] as const] : [])),
  )
  return request.queues.flatMap(({ queue, room }) => {
    const limit = limits.get(queue)
    return limit === undefined || room === 0 ? [] : [{ queue, room, limit }]
  })
}
