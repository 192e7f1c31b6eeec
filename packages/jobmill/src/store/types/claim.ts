/** Claim requests, leases, and the offers behind direct and remote dispatch. */
import type { NewJob } from '../../job/enqueue/new-job.ts'

export interface ClaimRequest {
  readonly instance: string
  /**
   * The queues to claim from, with the number of free workers for each. For a queue with a limit, the claim
   * takes and spends at most the available budget.
   */
  readonly queues: readonly { readonly queue: string; readonly room: number }[]
  /**
   * The kinds that the instance has handlers for, as `kindsOfVersion` lists them. Jobs of other kinds are
   * skipped.
   */
  readonly kinds: readonly string[]
  /** Maximum number of jobs over all queues (1 to 500). */
  readonly limit: number
  /**
   * A job is quarantined after two crashes. `skip` leaves quarantined jobs in the queue. `only` claims at
   * most one and nothing else, for an instance that runs no other job: if its process crashes, the cause is
   * known.
   */
  readonly quarantined: 'skip' | 'only'
}

/**
 * The free workers of the enqueuing instance, for direct dispatch. The store leases new jobs to them in the
 * insert.
 *
 * A job qualifies if it is due now, has one of these kinds, and has neither dedupe key nor order key. Its
 * queue must be open, have no limit, and have no ready job of the same or a better priority. Qualifying jobs
 * are leased by priority, then in the order of the call, up to the room in their queue. All other jobs are
 * inserted normally, and so are all jobs of a call that `isOneWrite` refuses.
 */
export type DirectDispatchOffer = Pick<ClaimRequest, 'instance' | 'queues' | 'kinds'>

/**
 * An idle worker offer. Another process may lease its next job of this queue and kind to this worker (remote
 * dispatch).
 */
export interface IdleWorkerOffer {
  readonly instance: string
  readonly queue: string
  readonly kind: string
  /** A number chosen by the offering instance. The dispatched job carries it. */
  readonly offer: number
}

/** A job that another process leased to this instance when it inserted the job. */
export interface DispatchedJob {
  readonly offer: number
  readonly lease: Lease
}

/** The right to run one job now. Unknown, expired and lost instances get no leases. */
export interface Lease extends Omit<NewJob, 'dueAt' | 'delayMs' | 'dedupe' | 'first'> {
  /** The lease token, higher with every claim. Jobs claimed by one statement share it. */
  readonly token: number
  /** Starts at 1. */
  readonly attempt: number
  readonly crashes: number
  readonly enqueuedAt: number
  readonly readyAt: number
  /** How long the job was ready before this claim, measured by the database's clock. */
  readonly waitedMs: number
  /** The job may have recorded steps. Omitted for jobs without steps. */
  readonly hasSteps?: true
  /** A step of another job waits for it. */
  readonly isChild?: true
}

export interface Held extends Pick<Lease, 'id' | 'token'> {
  /** Time since the claim, measured by the database's clock. */
  readonly ageMs: number
}
