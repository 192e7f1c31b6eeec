/** How an attempt is written down, and what the store answers. */
import type { NewJob } from '../job/new-job.ts'
import type { Outcome } from '../job/outcome.ts'
import type { JobState } from '../job/state.ts'
import type { Holding } from './holdings.ts'
import type { Enqueued } from './replies.ts'

export interface Finish {
  readonly id: string
  readonly token: number
  readonly transition: Transition
  /** Null when the handler never started: then no attempt is recorded. */
  readonly outcome: Outcome | null
  /** The error with its causes, the reason of a cancel, or why a result could not be kept. */
  readonly error?: string | undefined
  /** How long the handler ran. Left out: since the claim. */
  readonly ranMs?: number | undefined
  /** All that the attempt logged, as text. Left out: what `progress` noted last. Not kept when no attempt is recorded. */
  readonly log?: string | undefined
  /** Cools the job's queue down, if this finish is accepted. */
  readonly cool?: CoolDown | undefined
  /** Enqueued in the same transaction, if this finish is accepted and the job goes where its transition says. */
  readonly followUps?: readonly NewJob[] | undefined
}

/**
 * A running job whose cancel was requested ends as cancelled, whatever the transition says, except that
 * done stays done: the work happened.
 */
export type Transition =
  /**
   * `result` is JSON text. `forget`: nothing of the job is kept, nor of its attempts; a dedupe key that is held on stays held. A finish that forgets a job
   * which is not there is accepted: it was written before.
   */
  | { readonly to: 'done'; readonly result: string | null; readonly forget?: boolean }
  /** Due again after the delay; at once means ready, behind the others of its priority. */
  | { readonly to: 'scheduled'; readonly delayMs: number; readonly refund: boolean }
  /** Handed back: the attempt is refunded and its place in the order kept. */
  | { readonly to: 'ready' }
  /** `refund` for a job that dies without its handler having run: the attempt of this claim is not spent. */
  | { readonly to: 'dead'; readonly refund?: boolean }
  | { readonly to: 'cancelled' }

export type CoolDown =
  /** What the upstream asked for. Never shortens a cool-down that lasts longer. */
  | { readonly forMs: number }
  /**
   * The queue's own curve: base doubled per limiter event up to max. Inside a cool-down nothing changes, so
   * that events are counted and not workers; after `quietMs` without one the count starts again.
   */
  | { readonly baseMs: number; readonly maxMs: number; readonly quietMs: number }

export interface Finished {
  readonly id: string
  /** False: the token was stale and nothing was written. True also when an equal finish was written before. */
  readonly accepted: boolean
  /** Where the job went, null when refused. */
  readonly state: JobState | null
  /** What became of the follow-ups, in their order. */
  readonly followUps: readonly Enqueued[]
  /** A finish under this token was recorded before: nothing was written now. Left out where a job was forgotten. */
  readonly again?: true
  /** What the job had in other tables and this write changed. Left out where that is nothing, or not known. */
  readonly released?: readonly Holding[]
}

/** What is left out stays as it was noted before. */
export interface Progress {
  readonly id: string
  readonly token: number
  /** How far it is, as JSON text. */
  readonly value?: string | undefined
  /** All that the attempt logged so far, as text. */
  readonly log?: string | undefined
}
