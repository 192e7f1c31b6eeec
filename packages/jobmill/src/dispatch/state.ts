/**
 * What an instance knows when it decides which jobs to claim. Only `next` changes it. All times are on the
 * monotonic clock.
 */
import type { LimitSettings } from '../job/limit/limit.ts'
import type { ClaimRequest } from '../store/types/claim.ts'
import type { Candidate, WakeUp } from '../store/types/wake-up.ts'
import { type Buffer, emptyBuffer } from './buffer.ts'
import type { Estimates } from './estimates.ts'
import { type QuarantineState, noQuarantine } from './quarantine.ts'

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

export interface DispatchState {
  readonly instance: string
  readonly kinds: ReadonlySet<string>
  /** The maximum number of concurrent jobs over all queues. Null for the sum of its workers. */
  readonly capacity: number | null
  settings: DispatchSettings
  isStarted: boolean
  isStopping: boolean

  // The lease of this instance
  /** It may accept jobs before this time. */
  aliveUntil: number
  /** How often the lease was lost. A lease of a job that was requested in an earlier term is not run. */
  term: number

  // Jobs in hand
  readonly running: Counter
  /** Attempts that ended, and whose outcome is not written yet. */
  unwritten: number
  /** The last decision was not to claim because too many outcomes are unwritten. */
  waitsForWrites: boolean
  readonly buffer: Buffer
  /** Capacity reserved for the claim and the writes in flight. */
  readonly reserved: Counter
  readonly estimates: Estimates

  // Signs of work
  /** Queues that may have ready jobs. */
  readonly maybeReady: Set<string>
  /** Queues whose last claim returned less than was requested. */
  readonly nearlyEmpty: Set<string>
  /** When the limit of a queue has refilled. */
  readonly refillAt: Map<string, number>
  /** When to look for jobs that the instances chosen for a wake-up left. */
  readonly lookAt: Map<string, number>
  /** A notification arrived since the last claim. */
  wasNotified: boolean
  /** Wake-ups this instance was chosen for, until it has claimed. */
  readonly pendingWakeUps: Map<string, { readonly wakeUp: WakeUp; readonly skip: number }>
  /** The last event may have changed what to do. */
  isDue: boolean

  // The statement in flight
  claim: ClaimInFlight | null
  isComparing: boolean
  /** No statement before this time: the last claim failed. */
  pausedUntil: number
  /** Queues with a limit are claimed next, when not all queues fit into one claim. */
  limitedNext: boolean

  // Leases that this instance may hold without its knowledge
  compareAt: number
  comparedAt: number
  /** When the last claim was sent, or the last reply was lost. */
  claimedAt: number
  unsureUntil: number
  /** The last comparison left something to check. */
  hasMoreToCompare: boolean

  // Quarantine
  quarantine: QuarantineState
  /** A quarantined job runs, and nothing else. */
  runsQuarantined: boolean

  /** Direct dispatch: the writes in flight, by number. */
  readonly offers: Map<number, Offer>
  /** Remote dispatch: the term of each open stand-by offer, by number. */
  readonly standBys: Map<number, number>
  lastStandBy: number
  lastStandByAt: number
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

export interface InitialState {
  readonly instance: string
  readonly kinds: readonly string[]
  readonly capacity: number | null
}

export function initialState({ instance, kinds, capacity }: InitialState): DispatchState {
  return {
    instance,
    kinds: new Set(kinds),
    capacity,
    settings: { workers: new Map(), isLimited: () => false, limit: () => null, members: () => [] },
    isStarted: false,
    isStopping: false,
    aliveUntil: Number.NEGATIVE_INFINITY,
    term: 0,
    running: { total: 0, byQueue: new Map() },
    unwritten: 0,
    waitsForWrites: false,
    buffer: emptyBuffer(),
    reserved: { total: 0, byQueue: new Map() },
    estimates: new Map(),
    maybeReady: new Set(),
    nearlyEmpty: new Set(),
    refillAt: new Map(),
    lookAt: new Map(),
    wasNotified: false,
    pendingWakeUps: new Map(),
    isDue: false,
    claim: null,
    isComparing: false,
    pausedUntil: Number.NEGATIVE_INFINITY,
    limitedNext: false,
    compareAt: Number.POSITIVE_INFINITY,
    comparedAt: Number.NEGATIVE_INFINITY,
    claimedAt: Number.NEGATIVE_INFINITY,
    unsureUntil: Number.NEGATIVE_INFINITY,
    hasMoreToCompare: false,
    quarantine: noQuarantine(),
    runsQuarantined: false,
    offers: new Map(),
    standBys: new Map(),
    lastStandBy: 0,
    lastStandByAt: Number.NEGATIVE_INFINITY,
  }
}
