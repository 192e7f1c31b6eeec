/** The outcome of an attempt as the runtime sends it, and the reply of the store. */
import type { NewJob } from '../../job/enqueue/new-job.ts'
import type { Outcome } from '../../job/attempt/outcome.ts'
import type { JobState } from '../../job/state.ts'
import type { Enqueued } from './replies.ts'

export interface Finish {
  readonly id: string
  readonly token: number
  readonly transition: Transition
  /** Null if the handler never started. In that case no attempt is recorded. */
  readonly outcome: Outcome | null
  /** The error with its causes, the reason of a cancel, or the reason why the result could not be stored. */
  readonly error?: string | undefined
  /** Run time of the handler. Defaults to the time since the claim. */
  readonly ranMs?: number | undefined
  /**
   * The complete log of the attempt. Defaults to what `progress` stored last. Dropped if no attempt is
   * recorded.
   */
  readonly log?: string | undefined
  /** Puts the job's queue into cool-down, if this finish is accepted. */
  readonly cool?: CoolDown | undefined
  /**
   * Enqueued in the same transaction, if this finish is accepted and the job reaches the state in
   * `transition`.
   */
  readonly followUps?: readonly NewJob[] | undefined
}

/**
 * If a cancel was requested for a running job, the job ends as cancelled, whatever `transition` says. The
 * exception is `done`: the work is complete.
 */
export type Transition =
  /**
   * `result` is JSON text. `forget` deletes the job and its attempts; a dedupe key with a hold time stays
   * held. A finish with `forget` is accepted for a missing job, because an earlier call already deleted it.
   */
  | { readonly to: 'done'; readonly result: string | null; readonly forget?: boolean }
  /** Due again after `delayMs`. A delay of 0 makes the job ready, behind the other jobs of its priority. */
  | { readonly to: 'scheduled'; readonly delayMs: number; readonly refund: boolean }
  /** Returned to the queue: the attempt is refunded and the job keeps its place. */
  | { readonly to: 'ready' }
  /** `refund` is for a job that dies before its handler ran: the attempt of this claim does not count. */
  | { readonly to: 'dead'; readonly refund?: boolean }
  | { readonly to: 'cancelled' }
  /**
   * Scheduled until the first of its open waits is over, with the attempt refunded. Ready at once if it has
   * none, or if an event that it waits for has arrived.
   */
  | { readonly to: 'parked' }

export type CoolDown =
  /** The pause that the upstream service asked for. Never shortens a longer cool-down. */
  | { readonly forMs: number }
  /**
   * The queue's backoff curve: `baseMs`, doubled per throttling event, up to `maxMs`. Throttling during a
   * cool-down is not counted, so that the curve counts events instead of workers. After `quietMs` without an
   * event the count restarts.
   */
  | { readonly baseMs: number; readonly maxMs: number; readonly quietMs: number }

export interface Finished {
  readonly id: string
  /**
   * False if the token was stale and nothing was written. True also if an equal finish was written before.
   */
  readonly accepted: boolean
  /** The state of the job after this finish; null if the finish was refused. */
  readonly state: JobState | null
  /** The results of the follow-ups, in their order. */
  readonly followUps: readonly Enqueued[]
  /**
   * Set if a finish with this token was recorded before and this call wrote nothing. Omitted for forgotten
   * jobs.
   */
  readonly again?: true
}

/** Omitted fields keep their stored values. */
export interface Progress {
  readonly id: string
  readonly token: number
  /** The progress value as JSON text. */
  readonly value?: string | undefined
  /** The complete log of the attempt so far. */
  readonly log?: string | undefined
}

/** A write that releases the job as if it had never been claimed. */
export function releaseOf({ id, token }: { readonly id: string; readonly token: number }): Finish {
  return { id, token, outcome: null, transition: { to: 'ready' } }
}
