/**
 * What a history is made of: what was seen to happen, in the order in which it was committed. Whoever records it stands outside of the system: at the
 * door of the store (written, claimed, finished, reaped), at the callers (acknowledged, cancelled), inside the handlers (started, effect) and, now and then,
 * in front of everything that the store knows (look).
 *
 * `at` is in milliseconds on one clock for the whole history.
 */
import type { HoldAfter, JobState } from 'jobmill'

export type Entry = { readonly at: number } & (
  | Written
  | Acknowledged
  | Withdrawn
  | Replaced
  | Retried
  | Hurried
  | Paused
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
  | Keeps
  | Look
  | Restarted
  | LimitSet
  | Granted
  | GivenBack
  | Released
  | Planned
  | Ticked
)

/** The store has committed a new job. */
export interface Written {
  readonly what: 'written'
  readonly job: string
  readonly queue: string
  readonly kind: string
  readonly priority: number
  /** Ready at once, in the order of writing: no delay, no turn to wait for. */
  readonly isReady: boolean
  /** When it is due, for one that is not at once. */
  readonly dueAt?: number | null
  /** Those of one queue with the same order key run one at a time. */
  readonly orderKey?: string | null
  /** The dedupe key under which it was written, and how long it holds it after it is done, or however it ended. */
  readonly key?: { readonly key: string; readonly holdMs: number; readonly holdAfter: HoldAfter } | null
}

/** The store has ended a job that waited. */
interface Withdrawn {
  readonly what: 'withdrawn'
  readonly job: string
}

/** A job that waited has another payload and due time: its place is no longer where it was. */
interface Replaced {
  readonly what: 'replaced'
  readonly job: string
}

/** An operator had a job begin again that had ended. */
interface Retried {
  readonly what: 'retried'
  readonly job: string
}

/** An operator had a job become ready that was to wait. */
interface Hurried {
  readonly what: 'hurried'
  readonly job: string
}

/** From now on nothing is claimed from a queue; or it is again. */
interface Paused {
  readonly what: 'paused'
  readonly queue: string
  readonly isPaused: boolean
}

/** Somebody wants a job to be cancelled. */
interface CancelAsked {
  readonly what: 'cancel asked'
  readonly job: string
}

/** A caller was told that the job is safe. */
interface Acknowledged {
  readonly what: 'acknowledged'
  readonly job: string
}

/** The store has leased the job. */
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
  /** For how long its process may have been held up after it had looked at its lease. */
  readonly heldUpMs: number
}

/** A handler has changed something outside. */
interface Effect {
  readonly what: 'effect'
  readonly job: string
  readonly token: number
  readonly instance: string
  /** For how long its process had not stood still. */
  readonly awakeMs: number
}

/** A handler has come to its end by itself: nobody had told it to stop. */
interface Ended {
  readonly what: 'ended'
  readonly job: string
  readonly token: number
  readonly instance: string
}

/** An attempt was to be ended, and the store has taken it or refused. `again`: it had taken the very same before. */
interface Finished {
  readonly what: 'finished'
  readonly job: string
  readonly token: number
  readonly accepted: boolean
  /** Where the job went; null when refused. */
  readonly state: JobState | null
  readonly again?: boolean
  /** As if it had never begun. */
  readonly handedBack?: boolean
}

/** The store has promised an instance that it counts as alive until then; 0 when it went by itself. */
interface Alive {
  readonly what: 'alive'
  readonly instance: string
  readonly until: number
}

/** The store has ended a lease without its holder: its instance was lost, or went. */
interface TakenBack {
  readonly what: 'taken back'
  readonly job: string
  readonly state: JobState
  /** Whose lease it was. */
  readonly instance: string
  /** Whether a crash was counted for the job. */
  readonly isCrash?: boolean
}

/** A process has ended: it was killed, or told to stop. */
interface Gone {
  readonly what: 'gone'
  readonly instance: string
}

/** From now on no process reaches the store; or all of them do again. */
interface Outage {
  readonly what: 'outage'
  readonly isOver: boolean
}

/** A caller was told that the job is cancelled: not that it was asked for, but that it is so. */
interface Cancelled {
  readonly what: 'cancelled'
  readonly job: string
  /** When that caller asked for it. */
  readonly askedAt: number
}

/** How long a queue keeps jobs that are done; the others it keeps for ever. */
interface Keeps {
  readonly what: 'keeps'
  readonly queue: string
  readonly doneMs: number
}

/** Everything that is in the store. `isLast`: nothing was to be done any more. */
interface Look {
  readonly what: 'look'
  readonly jobs: ReadonlyMap<string, JobState>
  readonly isLast: boolean
  /** How many crashes the store has counted for each of them. */
  readonly crashes?: ReadonlyMap<string, number>
}

/** The store was gone, and is back. */
interface Restarted {
  readonly what: 'restarted'
}

interface LimitSet {
  readonly what: 'limit set'
  readonly limit: string
  readonly allows: Allows
}

/** So many at a time; or so many in a time, and `burst` at once. */
export type Allows =
  | { readonly most: number }
  | { readonly amount: number; readonly perMs: number; readonly burst: number }

/** `at` is when the holder may go on. */
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

/** A job has no lease any more, and with it gives back whatever it held. */
interface Released {
  readonly what: 'released'
  readonly holder: string
}

/** The instants that a schedule must have served when the history ends. */
interface Planned {
  readonly what: 'planned'
  readonly schedule: string
  readonly instants: readonly number[]
}

/** The store has served a planned instant. */
interface Ticked {
  readonly what: 'ticked'
  readonly schedule: string
  readonly instant: number
}
