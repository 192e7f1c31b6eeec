/** Ready → running: the leases of one instance, over all its queues, in one statement; queues with a limit by a path of their own. */
import type { ClaimRequest, Lease } from '../store/claim.ts'
import type { Row } from './connection.ts'
import { type Context, run } from './context.ts'
import { claimFields, claimStatement, leased, leaseOf } from './claim-statement.ts'
import { claimLimited } from './claim-limited.ts'
import { limitedQueues } from './limited.ts'

/**
 * By the unique name of the queue and the front of the primary key of `ready`. It can be planned in a moment, which the claim itself cannot; so a claim after one that
 * found nothing asks this first, and while there is nothing it is all that is sent.
 */
const ANY_READY = `
SELECT EXISTS (
  SELECT FROM jobmill.queue AS q CROSS JOIN LATERAL (SELECT FROM jobmill.ready AS r WHERE r.queue_id = q.id LIMIT 1) AS r
   WHERE q.name = ANY ($1::text[])) AS found`

/** Handles whose last claim found nothing. */
const wereEmpty = new WeakSet<Context>()

export async function claim(context: Context, request: ClaimRequest): Promise<Lease[]> {
  const names = request.queues.map(({ queue }) => queue)
  context.heard(names)
  if (wereEmpty.has(context)) {
    const [row] = await context.connection.query(context.sql(ANY_READY), [names])
    if (row?.['found'] !== true) return []
  }
  const leases = await claimSome(context, request)
  if (leases.length === 0) wereEmpty.add(context)
  else wereEmpty.delete(context)
  return leases
}

async function claimSome(context: Context, request: ClaimRequest): Promise<Lease[]> {
  const rows = await run(
    context,
    context.connection.query,
    claimStatement(context, request.limit, request.suspects, 'free'),
    claimFields(request, request.queues, null),
  )
  const free = leased(rows)
  const left = (request.suspects === 'only' ? 1 : request.limit) - free.length
  const more = left === 0 ? [] : await moreLeases(context, { ...request, limit: left }, rows[0] ?? {}, free)
  const all = more.length === 0 ? free : [...free, ...more].toSorted(byOrder)
  if (all.length === 0) return []
  await context.names.learn(
    all.map((row) => Number(row['queue_id'])),
    all.map((row) => Number(row['kind_id'])),
  )
  return all.map((row) => leaseOf(context, row))
}

/**
 * What was claimed before is committed, and a claim that fails has changed nothing: so it does not fail for what more there could have been. A lease that
 * came of it all the same is found when the instance compares what it holds.
 */
async function moreLeases(
  context: Context,
  request: ClaimRequest,
  row: Row,
  free: readonly Row[],
): Promise<readonly Row[]> {
  try {
    const limited = await worthIt(context, request, row)
    return limited.length === 0 ? [] : await claimLimited(context, request, limited)
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
    request.suspects === 'only' ? one.suspect : one.ready
  const limits = new Map(
    told.flatMap((one) => (one.available > 0 && isReady(one) ? [[one.queue, one.limit.name] as const] : [])),
  )
  return request.queues.flatMap(({ queue, room }) => {
    const limit = limits.get(queue)
    return limit === undefined || room === 0 ? [] : [{ queue, room, limit }]
  })
}

function byOrder(a: Row, b: Row): number {
  return Number(a['priority']) - Number(b['priority']) || Number(a['seq']) - Number(b['seq'])
}
