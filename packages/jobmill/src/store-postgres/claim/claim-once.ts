/** One call of the function jobmill.claim, its reply, and the leases in it. */
import { spreadGroups } from '../../store/take-turns.ts'
import type { ClaimRequest, Lease } from '../../store/types/claim.ts'
import { arrayOf, textArrayOf } from '../connection/array-text.ts'
import type { Row } from '../connection/connection.ts'
import type { Context, FairTurn } from '../context.ts'
import { nowIfNamesTrue } from '../fragments.ts'
import type { NameMap } from '../names/name-map.ts'
import { type Look, rangeColumns } from './scan-cursors.ts'
import { parseKind } from '../../job/kind/kind-name.ts'

const CLAIM = `SELECT * FROM jobmill.claim(${nowIfNamesTrue('$12')}, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $13, $14, $15, $16, $17)`

/** What to claim in one call. */
export interface Call extends Pick<ClaimRequest, 'instance' | 'limit' | 'quarantined'> {
  readonly map: NameMap
  /** The ids of the kinds. */
  readonly kinds: string
  readonly rooms: ReadonlyMap<string, number>
  /** The ranges to read. None for quarantined jobs, which have an index of their own. */
  readonly looks: ReadonlyMap<string, Look>
  /** The locked limit of the queues. Without it, queues with a limit are not read. */
  readonly inLimit?: { readonly name: string; readonly hasPermits: boolean }
}

/** The metadata in the last row, which is not a lease. */
export interface Summary {
  readonly token: number
  readonly now: number
  /** The queues with a limit and a ready job, if there may be room for one. See limited.ts. */
  readonly limited: readonly Row[] | null
  /** The id of each queue; null for queues that were not read because they are closed or have a limit. */
  readonly open: readonly (number | null)[]
  /** The last priority of each range. */
  readonly ends: readonly (number | null)[] | null
  /** How many of the leases are in a batch. */
  readonly batched: number | null
  /** Where the next claim of each fair queue continues, by the id of the queue. */
  readonly turns: Readonly<Record<string, FairTurn>> | null
  readonly last_seq: number
  readonly pages: number
  readonly ms: number
}

export interface Reply {
  readonly map: NameMap
  /** One for each lease, in claim order. */
  readonly rows: readonly LeaseRow[]
  /** Null for an instance that is not alive. */
  readonly summary: Summary | null
}

/** Sends a statement and returns the columns of its rows. */
type Send = (text: string, values: readonly unknown[]) => Promise<readonly (readonly unknown[])[]>

export async function claimOnce(context: Context, call: Call, send: Send): Promise<Reply> {
  const { map, rooms, inLimit } = call
  const looks = [...call.looks.values()]
  const hasPermits = inLimit?.hasPermits === true
  const values = [
    context.clock?.() ?? null,
    call.instance,
    textArrayOf([...rooms.keys()]),
    arrayOf([...rooms.values()]),
    call.kinds,
    call.limit,
    ...rangeColumns(looks),
    // Only a full scan can reach the end of a queue and needs the last priorities.
    looks.some(({ isFull }) => isFull) && inLimit === undefined,
    map.version,
    hasPermits ? null : context.batches.from(),
    call.quarantined === 'only',
    inLimit?.name ?? null,
    hasPermits,
    context.fairTurns.size === 0 ? null : JSON.stringify(Object.fromEntries(context.fairTurns)),
  ]
  const rows = [...(await send(context.sql(CLAIM), values))] as unknown as LeaseRow[]
  const last = rows.pop()?.[11]
  if (typeof last !== 'string') return { map, rows: [], summary: null }
  const summary = JSON.parse(last) as Summary
  for (const [queue, turn] of Object.entries(summary.turns ?? {})) context.fairTurns.set(queue, turn)
  if (summary.batched !== null) context.batches.add(summary.token, summary.batched)
  if (!rows.every((row) => map.queues.knows(row[1]) && map.kinds.knows(row[2])))
    await context.names.learn(map)
  return { map, rows, summary }
}

/** The leases of all replies, in claim order. */
export function leasesOf(replies: readonly Reply[]): Lease[] {
  const placed = replies.flatMap(({ map, rows, summary }) =>
    summary === null ? [] : rows.map((row) => ({ lease: leaseOfRow(map, row, summary), seq: row[4] })),
  )
  if (replies.length > 1) placed.sort((a, b) => a.lease.priority - b.lease.priority || a.seq - b.seq)
  const leases = placed.map(({ lease }) => lease)
  const fair = new Set(
    replies.flatMap(({ map, summary }) =>
      Object.keys(summary?.turns ?? {}).map((id) => map.queues.name(Number(id))),
    ),
  )
  return fair.size === 0 ? leases : spreadGroups(leases, (queue) => fair.has(queue))
}

/** The columns in order. Null means the default value of a column. */
export type LeaseRow = readonly [
  id: string,
  queueId: number,
  kindId: number,
  priority: number | null,
  seq: number,
  attempt: number | null,
  maxAttempts: number,
  crashes: number | null,
  readyAt: number,
  enqueuedAt: number | null,
  payload: string,
  rareText: string | null,
  group: string | null,
]

/** Fields that few jobs have. */
interface Rare {
  readonly timeout_ms: number | null
  readonly tags: readonly string[] | null
  readonly metadata: string | null
  readonly order_key: string | null
  /** Absent in a lease of direct dispatch. */
  readonly has_steps?: boolean
  readonly is_child?: boolean
}

/** `token` and `now` are shared by all rows of a reply. */
function leaseOfRow(
  map: NameMap,
  row: LeaseRow,
  { token, now }: { readonly token: number; readonly now: number },
): Lease {
  const [id, queueId, kindId, priority, , attempt, most, crashes, readyAt, enqueuedAt, payload, more, group] =
    row
  const rare = more === null ? null : (JSON.parse(more) as Rare)
  return {
    id,
    token,
    kind: parseKind(map.kinds.name(kindId)).kind,
    queue: map.queues.name(queueId),
    priority: priority ?? 0,
    attempt: attempt ?? 1,
    maxAttempts: most,
    crashes: crashes ?? 0,
    payload,
    timeoutMs: rare?.timeout_ms ?? null,
    tags: rare?.tags ?? [],
    metadata: rare?.metadata ?? null,
    orderKey: rare?.order_key ?? null,
    group,
    enqueuedAt: enqueuedAt ?? readyAt,
    readyAt,
    waitedMs: now - readyAt,
    ...(rare?.has_steps === true && { hasSteps: true as const }),
    ...(rare?.is_child === true && { isChild: true as const }),
  }
}
