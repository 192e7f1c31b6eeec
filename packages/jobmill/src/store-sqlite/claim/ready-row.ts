/** A ready job as a claim reads it, and the order of claims. */
import type { Lease } from '../../store/types/claim.ts'

/** Everything that a lease contains, so that nothing is read again later. */
export const READY_COLUMNS = `pk, id, queue_id, kind_id, priority, seq, attempt, max_attempts AS maxAttempts, crashes, payload,
  timeout_ms AS timeoutMs, tags, metadata, order_key AS orderKey, group_name AS "group", dedupe_key, enqueued_at AS enqueuedAt, ready_at AS readyAt, flags`

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

type Placed = Pick<ReadyRow, 'priority' | 'seq'>

export function byClaimOrder(a: Placed, b: Placed): number {
  return a.priority - b.priority || a.seq - b.seq
}
