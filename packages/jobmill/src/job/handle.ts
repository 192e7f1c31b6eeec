/** What enqueueing gives back, and what it accepts. */
import type { Duration } from './duration.ts'
import type { JobRequest } from './prepare-jobs.ts'

export interface ResultOptions {
  /** How long to wait, then RESULT_TIMEOUT. Left out: as long as it takes. */
  readonly timeout?: Duration
  /** Stops the waiting, not the job. */
  readonly signal?: AbortSignal
}

/** One job, from wherever it is looked at. */
export interface JobHandle<Result = unknown> {
  readonly id: string
  /**
   * What the handler returned, once the job is done; works from any process. JOB_DEAD with the error when it died, JOB_CANCELLED with the
   * reason, JOB_UNKNOWN when there is no such job, RESULT_NOT_KEPT when the work was done and its result could not be stored.
   */
  result(options?: ResultOptions): Promise<Result>
}

export interface EnqueuedJob<Result = unknown> extends JobHandle<Result> {
  /** `duplicate`: nothing was written, this is the job that holds the dedupe key. `replaced`: it has the new payload and due time. */
  readonly outcome: 'enqueued' | 'duplicate' | 'replaced'
}

export interface EnqueueOptions extends Omit<JobRequest, 'kind' | 'payload'> {
  /** Short for `dedupe: { key }`. */
  readonly dedupeKey?: string
}

/** One of many: a payload and what is special about it. */
export interface EnqueueItem<Input> extends EnqueueOptions {
  readonly payload: Input
}
