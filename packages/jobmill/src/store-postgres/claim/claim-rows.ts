/** Converts the rows of jobmill.claim to leases. */
import { parseKind } from '../../job/kind/kind-name.ts'
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
  /** Absent in a lease of direct dispatch. */
  readonly has_steps?: boolean
  readonly is_child?: boolean
}

/** `token` and `now` are shared by all rows of a reply. */
export function leaseOfRow(
  map: NameMap,
  row: LeaseRow,
  { token, now }: { readonly token: number; readonly now: number },
): Lease {
  const [id, queueId, kindId, priority, , attempt, most, crashes, readyAt, enqueuedAt, payload, more] = row
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
    enqueuedAt: enqueuedAt ?? readyAt,
    readyAt,
    waitedMs: now - readyAt,
    ...(rare?.has_steps === true && { hasSteps: true as const }),
    ...(rare?.is_child === true && { isChild: true as const }),
  }
}
