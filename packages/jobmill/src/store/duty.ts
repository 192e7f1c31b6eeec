/** Leadership: a lease for each duty that one instance does for all, held by whoever took it first and keeps renewing it. */

/** What an instance says of a duty with every heartbeat: it wants to lead it, or leads it already. */
export interface DutyBid {
  readonly name: string
  /** How long ago a pass of it here last succeeded; null for never. Written down while it leads. */
  readonly succeededAgoMs: number | null
  /** Passes that failed in a row. */
  readonly failures: number
}

export interface DutyRecord {
  readonly name: string
  /** The instance whose lease has not run out; null when nobody leads it. */
  readonly leader: string | null
  /** When the lease runs out unless it is renewed; null when nobody leads it. */
  readonly expiresAt: number | null
  readonly lastSuccessAt: number | null
  readonly failures: number
}

/** How many workers an instance runs for a queue whose workers are a total of the cluster. */
export interface Slot {
  readonly instance: string
  readonly queue: string
  readonly workers: number
}

/** `workers: null` takes the assignment back. */
export interface SlotChange extends Omit<Slot, 'workers'> {
  readonly workers: number | null
}
