/**
 * The entries of a history, in commit order. They are recorded outside the system: at the store (written,
 * claimed, finished, reaped), at callers (acknowledged, cancelled), in handlers (started, effect), and by
 * reading the whole store at times (look).
 *
 * `at` is in milliseconds on one clock for the whole history.
 */
import type { JobState } from 'jobmill'
import type { HeldAfter } from 'jobmill/store'
import type { StepEntry } from './step-entries.ts'

export type Entry = { readonly at: number } & (
  | Written
  | Acknowledged
  | Withdrawn
  | Replaced
  | Retried
  | Hurried
  | Paused
  | Quieted
  | CancelAsked
  | Claimed
  | Started
  | Effect
  | Ended
  | Finished
  | Alive
  | TakenBack
  | Gone
  | Outage
  | Cancelled
  | EndedByCancel
  | Registered
  | Keeps
  | Look
  | Restarted
  | LimitSet
  | Granted
  | GivenBack
  | Released
  | Planned
  | Ticked
  | StepEntry
)

/** The store committed a new job. */
export interface Written {
  readonly what: 'written'
  readonly job: string
  readonly queue: string
  readonly kind: string
  readonly priority: number
  /** Ready immediately, in the order of writing: without a delay or an order lock to wait for. */
  readonly isReady: boolean
  /** When it is due, if not immediately. */
  readonly dueAt?: number | null
  /** Jobs of one queue with the same order key run one at a time. */
  readonly orderKey?: string | null
  /** Its dedupe key, and how long it is held after the job is done, or after any end. */
  readonly key?: { readonly key: string; readonly holdMs: number; readonly holdAfter: HeldAfter } | null
}

/** The store ended a job that was not running. */
interface Withdrawn {
  readonly what: 'withdrawn'
  readonly job: string
}

/** A waiting job got another payload and due time, and lost its position. */
interface Replaced {
  readonly what: 'replaced'
  readonly job: string
}

/** An operator retried an ended job. */
interface Retried {
  readonly what: 'retried'
  readonly job: string
}

/** An operator made a scheduled job ready. */
interface Hurried {
  readonly what: 'hurried'
  readonly job: string
}

/** Claims from a queue are paused or resumed. */
interface Paused {
  readonly what: 'paused'
  readonly queue: string
  readonly isPaused: boolean
}

/** An operator made an instance quiet, asked it to stop, or resumed it. From then on it gets no lease. */
interface Quieted {
  readonly what: 'quieted'
  readonly instance: string
  readonly isQuiet: boolean
}

/** A caller requested the cancellation of a job. */
interface CancelAsked {
  readonly what: 'cancel asked'
  readonly job: string
}

/** A caller got the acknowledgement of the job. */
interface Acknowledged {
  readonly what: 'acknowledged'
  readonly job: string
}

/** The store leased the job. */
interface Claimed {
  readonly what: 'claimed'
  readonly job: string
  readonly token: number
  readonly instance: string
}

/** A handler was called. */
interface Started {
  readonly what: 'started'
  readonly job: string
  readonly token: number
  readonly instance: string
  /** How long its process may have been frozen after it checked its lease. */
  readonly heldUpMs: number
  /** Of the definition; 0 if it has none. Omitted for kinds whose definition never has one. */
  readonly version?: number
}

/** A handler had an external effect. */
interface Effect {
  readonly what: 'effect'
  readonly job: string
  readonly token: number
  readonly instance: string
  /** How long its process had been awake. */
  readonly awakeMs: number
}

/** A handler ended without being interrupted. */
interface Ended {
  readonly what: 'ended'
  readonly job: string
  readonly token: number
  readonly instance: string
}

/** The store accepted or refused an outcome. `again`: it had accepted the same one before. */
interface Finished {
  readonly what: 'finished'
  readonly job: string
  readonly token: number
  readonly accepted: boolean
  /** The new state of the job; null if refused. */
  readonly state: JobState | null
  readonly again?: boolean
  /** Returned to the queue as if it had never started. */
  readonly released?: boolean
  /** The handler waits in a step. */
  readonly parked?: true
}

/** The store granted an instance a lease until then; 0 after a graceful stop. */
interface Alive {
  readonly what: 'alive'
  readonly instance: string
  readonly until: number
}

/** The store ended a lease without its holder: the instance was lost or stopped. */
interface TakenBack {
  readonly what: 'taken back'
  readonly job: string
  readonly state: JobState
  /** The former holder. */
  readonly instance: string
  /** Whether a crash was counted for the job. */
  readonly isCrash?: boolean
}

/** A process ended: killed or stopped. */
interface Gone {
  readonly what: 'gone'
  readonly instance: string
}

/** All processes lost or regained contact with the store. */
interface Outage {
  readonly what: 'outage'
  readonly isOver: boolean
}

/** A call to `cancel` returned that the job is cancelled, not only that the cancellation was requested. */
interface Cancelled {
  readonly what: 'cancelled'
  readonly job: string
  /** When that caller requested it. */
  readonly askedAt: number
}

/** The store ended a job because of a cancel, in whatever state the job was. */
interface EndedByCancel {
  readonly what: 'ended by cancel'
  readonly job: string
}

/** The store knows a new instance. */
interface Registered {
  readonly what: 'registered'
  readonly instance: string
  /** As the store names them: with their versions. */
  readonly kinds: readonly string[]
  /** The kinds with `onCancelled`, without their versions. */
  readonly followed: readonly string[]
}

/** The retention of done jobs of a queue; others are kept forever. */
interface Keeps {
  readonly what: 'keeps'
  readonly queue: string
  readonly doneMs: number
}

/** Everything in the store. `isLast`: no work was left. */
interface Look {
  readonly what: 'look'
  readonly jobs: ReadonlyMap<string, JobState>
  readonly isLast: boolean
  /** The crashes that the store counted for each job. */
  readonly crashes?: ReadonlyMap<string, number>
  /** The jobs that run `onCancelled`, and the cancelled job of each. */
  readonly followUps?: ReadonlyMap<string, string>
}

/** The store was gone and is back. */
interface Restarted {
  readonly what: 'restarted'
}

interface LimitSet {
  readonly what: 'limit set'
  readonly limit: string
  readonly allows: Allows
}

/** A concurrency limit, or a rate with a burst. */
export type Allows =
  | { readonly most: number }
  | { readonly amount: number; readonly perMs: number; readonly burst: number }

/** `at` is when the holder may continue. */
interface Granted {
  readonly what: 'granted'
  readonly limit: string
  readonly holder: string
  readonly amount: number
}

interface GivenBack {
  readonly what: 'given back'
  readonly limit: string
  readonly holder: string
}

/** A job lost its lease, and released all its permits. */
interface Released {
  readonly what: 'released'
  readonly holder: string
}

/** The ticks that a schedule must have served by the end. */
interface Planned {
  readonly what: 'planned'
  readonly schedule: string
  readonly instants: readonly number[]
}

/** The store served a tick. */
interface Ticked {
  readonly what: 'ticked'
  readonly schedule: string
  readonly instant: number
}
