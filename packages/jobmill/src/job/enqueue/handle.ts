/** The return values and the options of `enqueue`. */
import type { Duration } from '../duration.ts'
import type { JobRequest } from './prepare-jobs.ts'

export interface ResultOptions {
  /** How long to wait before RESULT_TIMEOUT. Omitted: no timeout. */
  readonly timeout?: Duration
  /** Stops waiting, not the job. */
  readonly signal?: AbortSignal
}

/** A reference to one job. */
export interface JobHandle<Result = unknown> {
  readonly id: string
  /**
   * Resolves to the return value of the handler once the job is done, in any process. Rejects with JOB_DEAD,
   * JOB_CANCELLED, JOB_UNKNOWN if no job has this id, or RESULT_NOT_KEPT if the work is done but its result
   * could not be stored.
   */
  result(options?: ResultOptions): Promise<Result>
}

export interface EnqueuedJob<Result = unknown> extends JobHandle<Result> {
  /**
   * `duplicate`: nothing was written, and this is the job that holds the dedupe key. `replaced`: that job now
   * has the new payload and due time.
   */
  readonly outcome: 'enqueued' | 'duplicate' | 'replaced'
}

/** Omitted options take the values of the kind, and otherwise the defaults. */
export interface EnqueueOptions extends Omit<JobRequest, 'kind' | 'payload'> {
  /** Short for `dedupe: { key }`. */
  readonly dedupeKey?: string
}

/** One item of `enqueueMany`: a payload and its own options. */
export interface EnqueueItem<Input> extends EnqueueOptions {
  readonly payload: Input
}
