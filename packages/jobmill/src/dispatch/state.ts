/**
 * What an instance knows when it decides which jobs to claim. Only `next` changes it. All times are on the
 * monotonic clock.
 */
import type { LimitSettings } from '../job/limit/limit.ts'
import type { ClaimRequest } from '../store/types/claim.ts'
import type { Candidate, WakeUp } from '../store/types/wake-up.ts'
import { emptyBuffer } from './buffer.ts'
import type { Estimates } from './estimates.ts'
import { noQuarantine } from './quarantine.ts'

/** The queue settings that the decision depends on. */
export interface DispatchSettings {
  /** The workers of this instance for each queue it serves. */
  readonly workers: ReadonlyMap<string, number>
  /** Whether claims from the queue use a limit. */
  readonly isLimited: (queue: string) => boolean
  /** The settings of that limit. Null for none. */
  readonly limit: (queue: string) => LimitSettings | null
  /** The running instances that serve a queue, each with its share of workers as all instances compute it. */
  readonly members: (queue: string) => readonly Member[]
}

export interface Member extends Candidate {
  readonly kinds: readonly string[]
}

export type Room = ClaimRequest['queues'][number]

export class DispatchState {
  readonly instance: string
  readonly kinds: Set<string>
  /** The maximum number of concurrent jobs over all queues. Null for the sum of its workers. */
  readonly capacity: number | null
  settings: DispatchSettings = {
    workers: new Map(),
    isLimited: () => false,
    limit: () => null,
    members: () => [],
  }
  isStarted = false
  isStopping = false
  /** It claims nothing and accepts no job; running jobs continue. */
  isQuiet = false

  // The lease of this instance
  /** It may accept jobs before this time. */
  aliveUntil = Number.NEGATIVE_INFINITY
  /** How often the lease was lost. A lease that was requested in an earlier term is not run. */
  term = 0

  // Jobs that this instance holds
  readonly running: Counter = { total: 0, byQueue: new Map() }
  /** Attempts that ended, and whose outcome is not written yet. */
  unwritten = 0
  /** The last decision was not to claim because too many outcomes are unwritten. */
  waitsForWrites = false
  readonly buffer = emptyBuffer()
  /** Capacity reserved for the claim and the writes in flight. */
  readonly reserved: Counter = { total: 0, byQueue: new Map() }
  readonly estimates: Estimates = new Map()

  // New work
  /** Queues that may have ready jobs. */
  readonly maybeReady = new Set<string>()
  /** Queues whose last claim returned less than was requested. */
  readonly nearlyEmpty = new Set<string>()
  /** When the limit of a queue has refilled. */
  readonly refillAt = new Map<string, number>()
  /** When to look for jobs that the instances chosen for a wake-up did not claim. */
  readonly lookAt = new Map<string, number>()
  /** A notification arrived since the last claim. */
  wasNotified = false
  /** Wake-ups this instance was chosen for, until it has claimed. */
  readonly pendingWakeUps = new Map<string, { readonly wakeUp: WakeUp; readonly skip: number }>()
  /** The last event may have changed what to do. */
  isDue = false

  // The statement in flight
  claim: ClaimInFlight | null = null
  isComparing = false
  /** No statement before this time: the last claim failed. */
  pausedUntil = Number.NEGATIVE_INFINITY
  /** Queues with a limit are claimed next, when not all queues fit into one claim. */
  limitedNext = false

  // Leases that this instance may hold without its knowledge
  compareAt = Number.POSITIVE_INFINITY
  comparedAt = Number.NEGATIVE_INFINITY
  /** When the last claim was sent, or the last reply was lost. */
  claimedAt = Number.NEGATIVE_INFINITY
  unsureUntil = Number.NEGATIVE_INFINITY
  /** The last comparison left something to check. */
  hasMoreToCompare = false

  // Quarantine
  quarantine = noQuarantine()
  /** A quarantined job runs, and nothing else. */
  runsQuarantined = false

  /** Direct dispatch: the writes in flight, by number. */
  readonly offers = new Map<number, Offer>()
  /** Remote dispatch: the term of each open idle worker offer, by number. */
  readonly workerOffers = new Map<number, number>()
  lastWorkerOffer = 0
  lastWorkerOfferAt = Number.NEGATIVE_INFINITY

  constructor(instance: string, kinds: readonly string[], capacity: number | null) {
    this.instance = instance
    this.kinds = new Set(kinds)
    this.capacity = capacity
  }
}

export interface ClaimInFlight {
  readonly queues: readonly Room[]
  readonly limit: number
  readonly quarantined: ClaimRequest['quarantined']
  readonly term: number
}

export interface Offer {
  readonly queues: readonly Room[]
  readonly sentAt: number
  readonly term: number
}

/** Numbers by queue, and their sum. */
export interface Counter {
  total: number
  readonly byQueue: Map<string, { count: number }>
}

export function count(counter: Counter, queue: string, by: number): void {
  counter.total += by
  const known = counter.byQueue.get(queue)
  if (known === undefined) counter.byQueue.set(queue, { count: by })
  else known.count += by
}

export function countIn({ byQueue }: Counter, queue: string): number {
  return byQueue.get(queue)?.count ?? 0
}
