/** The part of a definition that runs jobs. */
import type { Service } from '../../platform/service.ts'
import type { CancelledContext, DeadContext, JobContext, JobInfo } from '../context.ts'
import type { EventSchemas } from './event-schemas.ts'

export type RetryIf = (error: unknown, job: JobInfo) => boolean

/**
 * What runs the jobs of a kind. `StoredPayload` is the type of the payload as it was enqueued, `Completed`
 * the type of the result that `complete` takes. `Events` has the schemas of the events that it waits for.
 */
export interface JobHandler<
  Payload,
  Returned,
  StoredPayload,
  Context,
  Completed = unknown,
  Events extends EventSchemas = EventSchemas,
> {
  /** Runs one attempt of a job. Its return value is the result, and an error makes the attempt fail. */
  readonly run: (context: JobContext<Payload, unknown, Completed, Context, Events>) => Returned
  /** Runs as a job of its own, once each time a job becomes dead. */
  readonly onDead?: (context: DeadContext<NoInfer<StoredPayload>, NoInfer<Context>>) => unknown
  /** Runs as a job of its own, once each time a job is cancelled. */
  readonly onCancelled?: (context: CancelledContext<NoInfer<StoredPayload>, NoInfer<Context>>) => unknown
  /** Returns false to make the job dead without further retries. */
  readonly retryIf?: RetryIf
  /** A resource that the handler needs, such as child processes. The mill starts and stops it. */
  readonly service?: Service
  /**
   * Increase it (1 to 100) when new code cannot continue the steps of old code, or old code those of new
   * code. A job that recorded its first step in a version runs only in that version and later ones.
   */
  readonly version?: number
}
