/** The handler of one kind, as the dispatch code sees it. */
import type { JobContext } from '../job/context.ts'
import type { JobDefinition } from '../job/kind/definition.ts'

export interface Handler extends Pick<
  JobDefinition,
  'kind' | 'payload' | 'result' | 'timeoutMs' | 'backoff' | 'retryIf' | 'run' | 'hasOwnTimeout'
> {
  /** Whether a job runs `onDead` after a permanent failure. */
  readonly followsDeaths: boolean
}

/**
 * Wraps every handler, the first middleware outermost. Calls `next` to continue, and returns or replaces its
 * result.
 */
export type Middleware = (context: JobContext, next: () => Promise<unknown>) => unknown
