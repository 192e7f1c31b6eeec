/** The handler of one kind, as the dispatch code sees it. */
import type { JobContext } from '../job/context.ts'
import type { JobDefinition } from '../job/kind/definition.ts'

export interface Handler extends Pick<
  JobDefinition,
  | 'kind'
  | 'payload'
  | 'result'
  | 'events'
  | 'timeoutMs'
  | 'backoff'
  | 'retryIf'
  | 'run'
  | 'hasOwnTimeout'
  | 'version'
> {
  /** Whether a job runs `onDead` after a permanent failure. */
  readonly followsDeaths: boolean
  /** Whether a job runs `onCancelled` after a cancel. */
  readonly followsCancels: boolean
}

/**
 * Wraps every handler, the first middleware outermost. Calls `next` to continue, and returns or replaces its
 * result.
 */
export type Middleware = (context: JobContext, next: () => Promise<unknown>) => unknown
