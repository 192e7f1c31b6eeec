/**
 * The hooks of a tracer: `jobmill/opentelemetry`, or your own. Without a tracer they are never called and
 * cost nothing. A tracer must not throw or block, because jobs must not depend on it.
 */
import type { NewJob } from './enqueue/new-job.ts'
import type { Outcome } from './attempt/outcome.ts'

export interface TraceIds {
  readonly traceId: string
  readonly spanId: string
}

/** A job whose attempt starts. */
export interface TracedJob {
  readonly id: string
  readonly kind: string
  readonly queue: string
  readonly attempt: number
  /** JSON text. */
  readonly metadata: string | null
  /** How long it was ready before it was claimed. */
  readonly waitedMs: number
}

export interface Tracing {
  /**
   * Wraps the write of jobs of one kind. Calls `write` once and synchronously, with jobs that carry the trace
   * in their metadata, and returns its return value.
   */
  enqueue<T>(jobs: readonly NewJob[], write: (jobs: readonly NewJob[]) => T): T
  /** An attempt starts, at `now` on the wall clock. */
  attempt(job: TracedJob, now: number): AttemptTrace
}

/** One run of the function of a step. */
export interface StepTrace {
  /** Calls `work` synchronously; everything it does belongs to this step. */
  run<T>(work: () => T): T
  /** The step was recorded, or failed with this error. */
  ended(error?: unknown): void
}

export interface AttemptTrace {
  /** The ids for log lines of this attempt; null when it is not traced. */
  readonly ids: TraceIds | null
  /** Calls `work` synchronously; everything it does belongs to this attempt. */
  run<T>(work: () => T): T
  /** A step of the handler starts. Optional, so that a tracer of your own may omit it. */
  step?(name: string): StepTrace
  /** The handler has ended. `error` is the error that it threw, if any. */
  ended(outcome: Outcome, error: unknown): void
  /** Wraps the write of the outcome. Null: the write was abandoned. */
  finish<T extends { readonly accepted: boolean } | null>(write: () => Promise<T>): Promise<T>
}
