/**
 * Moves jobs from ready to running. One call leases jobs of all queues without a limit, starting at the scan
 * cursors of earlier claims. If there is room left, a second call may make a full scan, and a transaction
 * claims from the queues with a limit.
 */
import type { ClaimRequest, Lease } from '../../store/types/claim.ts'
import type { Context } from '../context.ts'
import { roomsOf } from '../enqueue/workers.ts'
import { claimLimited } from './claim-limited.ts'
import { type Call, claimOnce, type LeaseRow, leasesOf, type Reply, type Summary } from './claim-once.ts'
import { limitedQueues } from './limited.ts'
import { kindsKey, type Look } from './scan-cursors.ts'
import { endUnreadable, mayBeDamage } from './unreadable.ts'

export async function claim(context: Context, request: ClaimRequest): Promise<Lease[]> {
  try {
    return await claimReady(context, request)
  } catch (error) {
    if (!mayBeDamage(error) || !(await endUnreadable(context, request))) throw error
    return claimReady(context, request)
  }
}

async function claimReady(context: Context, request: ClaimRequest): Promise<Lease[]> {
  const { names } = context
  context.forgetNotifications(request.queues.map(({ queue }) => queue))
  if (!request.kinds.every((kind) => names.kindIdIfKnown(kind) !== undefined))
    await names.ensure(new Set(), new Set(request.kinds))
  const call = callOf(context, request)
  const { reply, unread } = await claimFree(context, call)
  const replies = [reply]
  const left = (): number => replies.reduce((room, { rows }) => room - rows.length, call.limit)
  try {
    const looks = looksAt(context, unread.keys(), call.kinds)
    // A full scan, unless the last one was too expensive.
    if ([...looks.values()].some(({ isFull }) => isFull))
      replies.push((await claimFree(context, { ...call, rooms: unread, looks, limit: left() })).reply)
    const limited = limitedQueues(reply.summary?.limited ?? [], reply.summary?.now ?? 0)
    if (left() > 0) replies.push(...(await claimLimited(context, { ...call, limit: left() }, limited)))
  } catch (error) {
    // The earlier leases are committed. If the failed call committed after all, the instance finds its leases
    // when it compares its jobs with the database.
    if (left() === call.limit) throw error
  }
  return leasesOf(replies)
}

function callOf(context: Context, { instance, queues, kinds, limit, quarantined }: ClaimRequest): Call {
  const map = context.names.current
  const ids = kindsKey(map, kinds)
  const rooms = roomsOf(queues)
  const call = { instance, quarantined, map, kinds: ids, rooms }
  return quarantined === 'only'
    ? { ...call, limit: 1, looks: new Map() }
    : { ...call, limit, looks: looksAt(context, rooms.keys(), ids) }
}

function looksAt(
  { claimCursors, platform }: Context,
  queues: Iterable<string>,
  kinds: string,
): Map<string, Look> {
  const now = platform.monotonic()
  return new Map([...queues].map((queue) => [queue, claimCursors.look(queue, kinds, now)]))
}

interface Free {
  readonly reply: Reply
  /** The queues with room left whose scan started at a cursor, so they may have more jobs. */
  readonly unread: ReadonlyMap<string, number>
}

/** Claims from queues without a limit. */
async function claimFree(context: Context, call: Call): Promise<Free> {
  const disturb = (): void => context.claimCursors.disturb([...call.rooms.keys()])
  let reply: Reply
  try {
    reply = await claimOnce(context, call, context.connection.tuples)
  } catch (error) {
    // A rollback may have restored claimed rows.
    disturb()
    throw error
  }
  const { summary, rows } = reply
  if (summary === null) disturb()
  if (summary === null || call.quarantined === 'only') return { reply, unread: new Map() }
  return { reply, unread: remember(context, call, summary, rows) }
}

/**
 * Raises the scan cursors: everything up to the leased jobs has been read, and for a short queue everything
 * up to its end. Only after a full scan does a short result mean that there are no more jobs.
 */
function remember(
  { claimCursors, platform }: Context,
  { map, kinds, rooms, looks, limit }: Call,
  summary: Summary,
  rows: readonly LeaseRow[],
): Free['unread'] {
  const found = new Map(
    [...rooms.keys()].map((queue) => [queue, { leases: 0, upTo: new Map<number, number>() }]),
  )
  for (const [, queueId, , priority, seq] of rows) {
    const here = found.get(map.queues.name(queueId))
    if (here === undefined) continue
    here.leases += 1
    // Rows arrive in claim order, so the last one is the highest.
    here.upTo.set(priority ?? 0, seq)
  }
  const ranges = [...looks.values()].flatMap((look) => look.ranges)
  const now = platform.monotonic()
  const unread = new Map<string, number>()
  for (const [at, [queue, { leases, upTo }]] of [...found].entries()) {
    const left = (rooms.get(queue) ?? 0) - leases
    const isShort = rows.length < limit && left > 0
    const wasFull = looks.get(queue)?.isFull === true
    if (isShort && !wasFull) unread.set(queue, left)
    if ((summary.open[at] ?? null) === null) claimCursors.disturb([queue])
    else
      claimCursors.record(queue, kinds, now, {
        wasFull,
        upTo,
        lastSeq: isShort ? summary.last_seq : null,
        lanes: (summary.ends ?? []).flatMap((end, n) => (ranges[n]?.queue === queue ? (end ?? []) : [])),
        leases,
        pages: summary.pages,
        ms: summary.ms,
      })
  }
  return unread
}
