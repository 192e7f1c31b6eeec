/** What runs the jobs of one kind, as this layer sees it. */
import type { BackoffPlan } from '../job/backoff.ts'
import type { JobContext, JobInfo } from '../job/context.ts'
import type { Schema } from '../job/schema.ts'

export interface Handler {
  readonly kind: string
  readonly payload: Schema | undefined
  readonly result: Schema | undefined
  readonly timeoutMs: number | undefined
  readonly backoff: BackoffPlan | undefined
  readonly retryIf: ((error: unknown, job: JobInfo) => boolean) | undefined
  readonly run: (context: JobContext) => unknown
  /** Whether a death is followed by the job that runs `onDead`. */
  readonly followsDeaths: boolean
}

/** Around every handler, the first one outermost. Calls `next` to go on; returns, or changes, what it gives. */
export type Middleware = (context: JobContext, next: () => Promise<unknown>) => unknown
