/** Converts the rows of jobmill.claim_ready to leases. */
import type { Lease } from '../../store/types/claim.ts'
import type { NameMap } from '../names/name-map.ts'

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
]

/** Fields that few jobs have. */
interface Rare {
  readonly timeout_ms: number | null
  readonly tags: readonly string[] | null
  readonly metadata: string | null
  readonly order_key: string | null
}

/** A lease with its sequence number. */
export interface Placed {
  readonly lease: Lease
  readonly seq: number
}

/** Values shared by all rows of a reply. */
interface Common {
  readonly token: number
  readonly now: number
}

export function leaseOfRow(map: NameMap, row: LeaseRow, { token, now }: Common): Lease {
  const [
    id,
    queueId,
    kindId,
    priority,
    ,
    attempt,
    maxAttempts,
    crashes,
    readyAt,
    enqueuedAt,
    payload,
    rareText,
  ] = row
  const rare = rareText === null ? null : (JSON.parse(rareText) as Rare)
  return {
    id,
    token,
    kind: map.kinds.name(kindId),
    queue: map.queues.name(queueId),
    priority: priority ?? 0,
    attempt: attempt ?? 1,
    maxAttempts,
    crashes: crashes ?? 0,
    payload,
    timeoutMs: rare?.timeout_ms ?? null,
    tags: rare?.tags ?? [],
    metadata: rare?.metadata ?? null,
    orderKey: rare?.order_key ?? null,
    enqueuedAt: enqueuedAt ?? readyAt,
    readyAt,
    waitedMs: now - readyAt,
  }
}

export function placedOfRow(map: NameMap, row: LeaseRow, common: Common): Placed {
  return { lease: leaseOfRow(map, row, common), seq: row[4] }
}
