/**
 * What the runtime tells whoever traces it: `jobmill/opentelemetry`, or something of a user's. Without one none of this is called, and no job costs more. What
 * traces must not throw and must not wait: nothing may depend on it.
 */
import type { NewJob } from './new-job.ts'
import type { Outcome } from './outcome.ts'

export interface TraceIds {
  readonly traceId: string
  readonly spanId: string
}

/** What is known of a job whose attempt begins. */
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
  /** Around the write of jobs of one kind. Calls `write` once and at once, with jobs that carry the trace in their metadata, and gives back what it gives. */
  enqueue<T>(jobs: readonly NewJob[], write: (jobs: readonly NewJob[]) => T): T
  /** An attempt begins, at `now` on the wall clock. */
  attempt(job: TracedJob, now: number): AttemptTrace
}

export interface AttemptTrace {
  /** What log lines of this attempt name; null when it is not traced after all. */
  readonly ids: TraceIds | null
  /** Calls `work` at once; whatever it does belongs to this attempt. */
  run<T>(work: () => T): T
  /** The handler has ended. `error` is what it threw, if it did. */
  ended(outcome: Outcome, error: unknown): void
  /** Around the write of the outcome. Null: it was given up. */
  finish<T extends { readonly accepted: boolean } | null>(write: () => Promise<T>): Promise<T>
}
