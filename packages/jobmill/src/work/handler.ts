/** What runs the jobs of one kind, as this layer sees it. */
import type { JobContext } from '../job/context.ts'
import type { JobDefinition } from '../job/definition.ts'

export interface Handler extends Pick<
  JobDefinition,
  'kind' | 'payload' | 'result' | 'timeoutMs' | 'backoff' | 'retryIf' | 'run' | 'hasOwnTimeout'
> {
  /** Whether a death is followed by the job that runs `onDead`. */
  readonly followsDeaths: boolean
}

/** Around every handler, the first one outermost. Calls `next` to go on; returns, or changes, what it gives. */
export type Middleware = (context: JobContext, next: () => Promise<unknown>) => unknown
