/**
 * Leadership: each duty has a lease, held by one instance for the whole cluster until it stops renewing it.
 */

/** Sent with every heartbeat for each duty that the instance leads or wants to lead. */
export interface DutyBid {
  readonly name: string
  /** Time since the last successful pass on this instance; null for never. Stored while it leads. */
  readonly succeededAgoMs: number | null
  /** Consecutive failed passes. */
  readonly failures: number
}

export interface DutyRecord {
  readonly name: string
  /** The instance with a valid lease; null if there is none. */
  readonly leader: string | null
  /** When the lease expires unless it is renewed; null without a leader. */
  readonly expiresAt: number | null
  readonly lastSuccessAt: number | null
  readonly failures: number
}

/** The workers of one instance for a queue whose total is set for the whole cluster. */
export interface Slot {
  readonly instance: string
  readonly queue: string
  readonly workers: number
}

/** `workers: null` removes the assignment. */
export interface SlotChange extends Omit<Slot, 'workers'> {
  readonly workers: number | null
}
