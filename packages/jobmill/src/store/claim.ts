/** What an instance asks for, and the leases it gets. */
import type { Holding } from './holdings.ts'

export interface ClaimRequest {
  readonly instance: string
  /** Which queues, and how many jobs there is room for in each. From a queue with a limit no more than its budget is taken, and that is spent. */
  readonly queues: readonly { readonly queue: string; readonly room: number }[]
  /** Only jobs of these kinds: those that the instance has a handler for. */
  readonly kinds: readonly string[]
  /** At most this many in total, over all queues (1 to 500). */
  readonly limit: number
  /**
   * A suspect is a job with two crashes or more. `skip` passes them over; `only` takes at most one and nothing
   * else, for an instance that runs nothing at the moment: if the process dies now, it is clear who did it.
   */
  readonly quarantined: 'skip' | 'only'
}

/**
 * Free workers of the instance that enqueues: what may begin at once is leased to it as it is written. That are jobs of its kinds that are due now, without
 * dedupe key and order key, in queues that are open and draw on no limit and have no job ready of the same or a better priority: of these, by priority and then
 * in the order of the call, as many as there is room for in their queue. Everything else is written as always.
 */
export interface HandOff {
  readonly instance: string
  readonly queues: readonly { readonly queue: string; readonly room: number }[]
  readonly kinds: readonly string[]
}

/** A worker that is free: the next job of this queue and kind that another process writes may be leased to it, in the way of a hand-off. */
export interface StandBy {
  readonly instance: string
  readonly queue: string
  readonly kind: string
  /** A number of its own, which comes back with the job. */
  readonly offer: number
}

/** A job that another process has leased to this instance as it wrote it. */
export interface HandedOver {
  readonly offer: number
  readonly lease: Lease
}

/** The right to run one job now. An instance that is unknown, expired or lost gets none. */
export interface Lease {
  readonly id: string
  /** New and higher at every claim. Jobs claimed by one statement share it. */
  readonly token: number
  readonly kind: string
  readonly queue: string
  readonly priority: number
  /** 1 at the first run. */
  readonly attempt: number
  readonly maxAttempts: number
  readonly crashes: number
  /** JSON text. */
  readonly payload: string
  readonly timeoutMs: number | null
  readonly tags: readonly string[]
  /** JSON text. */
  readonly metadata: string | null
  readonly orderKey: string | null
  readonly enqueuedAt: number
  readonly readyAt: number
  /** How long it was ready before this claim, by the database's clock. */
  readonly waitedMs: number
}

export interface Held {
  readonly id: string
  readonly token: number
  /** How long ago it was claimed, by the database's clock. */
  readonly ageMs: number
  /** What it has in other tables. Left out where that is nothing. */
  readonly holdings?: readonly Holding[]
}
