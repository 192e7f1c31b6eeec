/**
 * The columns of a ready job that a claim reads: everything its lease contains, so that nothing is read again
 * later.
 */

export const READY_COLUMNS = `pk, id, queue_id, kind_id, priority, seq, attempt, max_attempts, crashes, payload, timeout_ms, tags, metadata,
  order_key, dedupe_key, enqueued_at, ready_at`

export interface ReadyRow {
  readonly pk: number
  readonly id: string
  readonly queue_id: number
  readonly kind_id: number
  readonly priority: number
  readonly seq: number
  /** Before the claim. */
  readonly attempt: number
  readonly max_attempts: number
  readonly crashes: number
  readonly payload: string
  readonly timeout_ms: number | null
  readonly tags: string | null
  readonly metadata: string | null
  readonly order_key: string | null
  readonly dedupe_key: string | null
  readonly enqueued_at: number
  readonly ready_at: number
}
