/** The option `chunk` of a kind: its handler gets many jobs per call. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { BOUNDS, DEFAULTS } from '../defaults.ts'
import type { JobContext } from '../context.ts'
import { type Duration, durationMs } from '../duration.ts'
import { JobmillError } from '../errors.ts'
import type { JobPolicy } from './declaration.ts'
import type { JobHandler } from './job-handler.ts'
import { checkOneOf, checkWhole } from '../numbers.ts'
import { checkObjectKeys } from '../options/known-keys.ts'
import type { GroupOption } from '../payload/group.ts'
import type { PayloadPath } from '../payload/payload-path.ts'

interface ChunkOptions {
  /** The maximum number of jobs per call, 2 to 10,000. Each of them occupies a worker of the queue. */
  readonly size: number
  /** How long the first job of a chunk waits for others, up to a minute (default 100 ms). */
  readonly wait?: Duration
  /** `'group'`: all jobs of a chunk have the same group. Default: any jobs of the kind. */
  readonly by?: 'group'
}

/** One job of a chunk. It has its own lease, attempt, log and outcome. */
export interface ChunkJob<Payload = unknown> extends Pick<
  JobContext<Payload>,
  'payload' | 'job' | 'attempt' | 'log' | 'progress' | 'previousError'
> {
  /** Aborts when this job should stop. The other jobs continue. */
  readonly signal: AbortSignal
  /**
   * Makes this job fail with the error, as if a handler had thrown it. It is retried, and `Dead`, `Snooze`
   * and `Throttled` work. The other jobs of the chunk are not affected.
   */
  readonly fail: (error: unknown) => void
}

export interface ChunkContext<Payload = unknown, Context = unknown> extends Pick<
  JobContext<Payload, unknown, unknown, Context>,
  'context' | 'now' | 'instance'
> {
  readonly jobs: readonly ChunkJob<Payload>[]
  /** Aborts when every job of the chunk should stop, for example at a shutdown. */
  readonly signal: AbortSignal
}

/** If it throws, every job of the chunk fails that `fail` did not name. */
export type ChunkRun<Payload = unknown, Context = unknown> = (
  context: ChunkContext<Payload, Context>,
) => unknown

/** A handler that gets many jobs per call. They have no results and no durable steps. */
export interface ChunkHandler<Payload, StoredPayload, Context> extends Omit<
  JobHandler<Payload, unknown, StoredPayload, Context>,
  'run' | 'version'
> {
  /** Calls the handler once for many jobs: `{ size: 500, wait: '200ms' }`. */
  readonly chunk: ChunkOptions
  readonly run: ChunkRun<Payload, Context>
}

export interface ChunkWithSchema<PayloadSchema extends StandardSchemaV1, Context>
  extends
    JobPolicy,
    ChunkHandler<
      StandardSchemaV1.InferOutput<PayloadSchema>,
      StandardSchemaV1.InferInput<PayloadSchema>,
      Context
    > {
  readonly kind: string
  readonly payload: PayloadSchema
  readonly indexedPayload?: readonly PayloadPath<StandardSchemaV1.InferInput<PayloadSchema>>[]
  readonly group?: GroupOption<StandardSchemaV1.InferInput<PayloadSchema>>
}

export interface PlainChunk<Payload, Context> extends JobPolicy, ChunkHandler<Payload, Payload, Context> {
  readonly kind: string
  readonly payload?: undefined
  readonly indexedPayload?: readonly PayloadPath<NoInfer<Payload>>[]
  readonly group?: GroupOption<NoInfer<Payload>>
}

export interface ChunkPlan {
  readonly size: number
  readonly waitMs: number
  readonly byGroup: boolean
}

/** `hasResult`: whether the kind has a schema for results. */
export function checkChunk(given: unknown, field: string, hasResult: boolean): ChunkPlan {
  checkObjectKeys(given, field, ['size', 'wait', 'by'])
  const { size, wait, by } = given as ChunkOptions
  if (by !== undefined) checkOneOf(by, `${field}.by`, ['group'])
  if (hasResult) {
    const what = 'cannot be combined with a schema for results, because the jobs of a chunk have none'
    throw new JobmillError('OPTION_INVALID', what, { field, fix: 'Omit result' })
  }
  return {
    size: checkWhole(size, `${field}.size`, BOUNDS.chunkSize),
    byGroup: by === 'group',
    waitMs:
      wait === undefined
        ? DEFAULTS.chunkWaitMs
        : checkWhole(durationMs(wait, `${field}.wait`), `${field}.wait`, BOUNDS.chunkWaitMs),
  }
}
