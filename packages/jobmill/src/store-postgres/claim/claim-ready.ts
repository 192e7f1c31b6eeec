/**
 * The common claim: queues without a limit, no quarantined jobs. Calls the function claim_ready, which starts
 * at the scan cursors of earlier claims.
 */
import type { ClaimRequest, Lease } from '../../store/types/claim.ts'
import { arrayOf, textArrayOf } from '../connection/array-text.ts'
import { type LeaseRow, leaseOfRow, type Placed, placedOfRow } from './claim-rows.ts'
import type { Context } from '../context.ts'
import { roomsOf } from '../enqueue/enqueue-due.ts'
import { nowIfNamesTrue } from '../fragments.ts'
import type { NameMap } from '../names/name-map.ts'
import { kindsKey, type Look, rangeColumns } from './floors.ts'

const CLAIM_READY = `SELECT * FROM jobmill.claim_ready(${nowIfNamesTrue('$12')}, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`

/** The metadata in the last row, which is not a lease. */
interface Summary {
  readonly token: number
  readonly now: number
  readonly has_limited: boolean | null
  /** The id of each queue; null for queues that were not read because they are closed or have a limit. */
  readonly open: readonly (number | null)[]
  /** The last priority of each range. */
  readonly ends: readonly (number | null)[] | null
  readonly last_seq: number
  readonly pages: number
  readonly ms: number
}

export interface Claimed {
  readonly leases: Lease[]
  /** The same leases with their sequence numbers. */
  readonly placed: () => Placed[]
  readonly hasLimited: boolean
  /** The queues that returned fewer jobs than there is room for. */
  readonly short: readonly { readonly queue: string; readonly room: number }[]
}

const NOTHING: Claimed = { leases: [], placed: () => [], hasLimited: false, short: [] }

/**
 * A claim that starts at the scan cursors and finds too few jobs is followed by a full scan, unless the last
 * full scan was too expensive. Only after a full scan does a short result mean that there are no more jobs.
 */
export async function claimReady(context: Context, request: ClaimRequest): Promise<Claimed> {
  const { names } = context
  if (!request.kinds.every((kind) => names.kindIdIfKnown(kind) !== undefined))
    await names.ensure(new Set(), new Set(request.kinds))
  const asked = lookAt(context, request)
  const first = await claimOnce(context, request, asked)
  const queues = first.short.filter(({ queue }) => asked.looks.get(queue)?.isFull === false)
  if (queues.length === 0) return first
  const rest = { ...request, queues, limit: request.limit - first.leases.length }
  const again = lookAt(context, rest)
  if (![...again.looks.values()].some(({ isFull }) => isFull)) return first
  try {
    return mergeClaims(first, await claimOnce(context, rest, again))
  } catch (error) {
    // The first claim is committed, and the failed second one changed nothing.
    if (first.leases.length === 0) throw error
    return first
  }
}

function mergeClaims(first: Claimed, second: Claimed): Claimed {
  if (second.leases.length === 0) return first
  const placed = [...first.placed(), ...second.placed()].toSorted(byOrder)
  return { ...second, leases: placed.map(({ lease }) => lease), placed: () => placed }
}

export function byOrder(a: Placed, b: Placed): number {
  return a.lease.priority - b.lease.priority || a.seq - b.seq
}

interface Asked {
  readonly map: NameMap
  readonly kinds: string
  readonly rooms: ReadonlyMap<string, number>
  readonly looks: ReadonlyMap<string, Look>
}

function lookAt({ floors, names, platform }: Context, { kinds, queues }: ClaimRequest): Asked {
  const map = names.current
  const ids = kindsKey(map, kinds)
  const rooms = roomsOf(queues, (queue) => queue)
  const now = platform.monotonic()
  const looks = new Map([...rooms.keys()].map((queue) => [queue, floors.look(queue, ids, now)]))
  return { map, kinds: ids, rooms, looks }
}

async function claimOnce(context: Context, request: ClaimRequest, asked: Asked): Promise<Claimed> {
  const { names, floors } = context
  const { map } = asked
  const looks = [...asked.looks.values()]
  const { version } = map
  const values = [
    context.clock?.() ?? null,
    request.instance,
    textArrayOf([...asked.rooms.keys()]),
    arrayOf([...asked.rooms.values()]),
    asked.kinds,
    request.limit,
    ...rangeColumns(looks),
    // Only a full scan can reach the end of a queue and needs the last seq.
    looks.some(({ isFull }) => isFull),
    version,
  ]
  let rows: LeaseRow[]
  try {
    rows = (await context.connection.tuples(context.sql(CLAIM_READY), values)) as unknown as LeaseRow[]
  } catch (error) {
    // A rollback may have restored claimed rows.
    floors.disturb([...asked.rooms.keys()])
    throw error
  }
  const last = rows.pop()?.[11]
  if (typeof last !== 'string') {
    floors.disturb([...asked.rooms.keys()])
    return NOTHING
  }
  const summary = JSON.parse(last) as Summary
  if (!rows.every((row) => map.queues.knows(row[1]) && map.kinds.knows(row[2])))
    await names.learn(
      map,
      rows.map((row) => row[1]),
      rows.map((row) => row[2]),
    )
  return {
    leases: rows.map((row) => leaseOfRow(map, row, summary)),
    placed: () => rows.map((row) => placedOfRow(map, row, summary)),
    hasLimited: summary.has_limited === true,
    short: remember(context, request, asked, summary, rows),
  }
}

/**
 * Raises the scan cursors: everything up to the leased jobs has been read, and for a short queue everything
 * up to its end.
 */
function remember(
  { floors, platform }: Context,
  { limit }: ClaimRequest,
  { map, kinds, rooms, looks }: Asked,
  summary: Summary,
  rows: readonly LeaseRow[],
): Claimed['short'] {
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
  return [...found].flatMap(([queue, { leases, upTo }], at) => {
    const left = (rooms.get(queue) ?? 0) - leases
    const isShort = rows.length < limit && left > 0
    if ((summary.open[at] ?? null) === null) floors.disturb([queue])
    else
      floors.record(queue, kinds, now, {
        wasFull: looks.get(queue)?.isFull === true,
        upTo,
        lastSeq: isShort ? summary.last_seq : null,
        lanes: (summary.ends ?? []).flatMap((end, n) => (ranges[n]?.queue === queue ? (end ?? []) : [])),
        leases,
        pages: summary.pages,
        ms: summary.ms,
      })
    return isShort ? [{ queue, room: left }] : []
  })
}
