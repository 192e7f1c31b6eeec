/** The events that a dispatcher receives, and the effects that it performs. */
import type { NewJob } from '../job/enqueue/new-job.ts'
import type { ClaimRequest, DispatchedJob, Lease } from '../store/types/claim.ts'
import type { WakeUp } from '../store/types/wake-up.ts'
import type { DispatchSettings } from './state.ts'

export type DispatchEvent =
  | { readonly type: 'started' }
  | { readonly type: 'stopped' }
  /** An operator made this instance quiet, or resumed it. */
  | { readonly type: 'quieted'; readonly isQuiet: boolean }
  | { readonly type: 'settingsChanged'; readonly settings: DispatchSettings }
  /** This instance has a handler for another kind. */
  | { readonly type: 'kindAdded'; readonly kind: string }
  // New work
  /** These queues may have ready jobs; all served queues if null. */
  | { readonly type: 'jobsReady'; readonly queues: Iterable<string> | null }
  | { readonly type: 'notified'; readonly wakeUps: readonly WakeUp[] }
  | { readonly type: 'heartbeat'; readonly ready: boolean; readonly quarantined: boolean }
  // The lease of this instance
  | { readonly type: 'leaseRenewed'; readonly until: number }
  | { readonly type: 'leaseLost' }
  // Attempts of this process
  /** A handler ended, so a worker is free. */
  | { readonly type: 'workerFreed'; readonly queue: string }
  /** This many outcomes are written, or never will be; `finished` are the accepted ones. */
  | { readonly type: 'outcomesSettled'; readonly count: number; readonly finished: readonly FinishedJob[] }
  | { readonly type: 'cancelled'; readonly ids: readonly string[] }
  // Replies to claims and comparisons
  | { readonly type: 'claimed'; readonly leases: readonly Lease[] }
  | { readonly type: 'claimFailed'; readonly isUnknown: boolean; readonly pauseMs: number }
  /** A comparison found leases that this instance does not know, and releases them. */
  | { readonly type: 'unknownLeasesFound' }
  /** When to compare again; null if nothing is left to check. */
  | { readonly type: 'compared'; readonly moreInMs: number | null }
  // Direct dispatch: `offer` is the number of the write
  | { readonly type: 'enqueueing'; readonly offer: number; readonly jobs: readonly NewJob[] }
  | { readonly type: 'dispatched'; readonly offer: number; readonly leases: readonly Lease[] }
  | { readonly type: 'enqueueFailed'; readonly offer: number; readonly isUnknown: boolean }
  // Remote dispatch
  | { readonly type: 'workerOffered'; readonly offer: number }
  | ({ readonly type: 'jobDispatched' } & DispatchedJob)
  /** Time to decide: after events that changed something, and when the sleep is over. */
  | { readonly type: 'tick' }

export interface FinishedJob {
  readonly queue: string
  readonly kind: string
  readonly ranMs: number | undefined
}

export type DispatchEffect =
  /** `waitedMs` is how long the job was ready until `now`. */
  | { readonly type: 'run'; readonly lease: Lease; readonly waitedMs: number; readonly now: number }
  | { readonly type: 'release'; readonly leases: readonly Lease[] }
  | { readonly type: 'claim'; readonly request: Omit<ClaimRequest, 'instance' | 'kinds'> }
  /** Compares the leases in the database with the jobs of this instance. */
  | { readonly type: 'compare' }
  | { readonly type: 'sleepUntil'; readonly at: number }
  /** Offers an idle worker to other processes. */
  | { readonly type: 'offerWorker'; readonly queue: string; readonly kind: string; readonly offer: number }
  | { readonly type: 'forward'; readonly wakeUp: WakeUp }
  | { readonly type: 'hurryHeartbeat' }

export type Effects = readonly DispatchEffect[]

export const NOTHING: Effects = []
