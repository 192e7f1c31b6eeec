/** `defineJob`: a kind with its payload schema, its handler, and its retry policy. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Service } from '../platform/service.ts'
import { type Backoff, type BackoffPlan, backoffPlan } from './attempt/backoff.ts'
import type { DeadContext, JobContext, JobInfo } from './context.ts'
import { BOUNDS } from './defaults.ts'
import { type Duration, timeoutMs } from './duration.ts'
import { JobmillError, quote } from './errors.ts'
import { JOB_KIND, type JobKind } from './job-kind.ts'
import type { MustBeJson } from './payload/json-payload.ts'
import { checkObjectKeys } from './options/known-keys.ts'
import { checkName } from './names.ts'
import { checkFunction, checkWhole } from './numbers.ts'
import { onDeadKind } from './attempt/on-dead.ts'
import { isSchema, type Schema } from './payload/schema.ts'
import type { Stored } from './payload/stored.ts'

/** The options of a kind that apply to all of its jobs. A single job may override the first four. */
export interface JobPolicy {
  /** The queue of its jobs. Omitted: the mill's route for the kind. */
  readonly queue?: string
  readonly priority?: number
  readonly maxAttempts?: number
  /** How long one attempt may take. Omitted: no timeout. */
  readonly timeout?: Duration
  readonly backoff?: Backoff
  /** Returns false to make the job dead at once for this error. */
  readonly retryIf?: (error: unknown, job: JobInfo) => boolean
}

/** `Input` is the payload type of `enqueue`, `Result` the type that `result()` resolves to. */
export interface JobDefinition<in Input = never, out Result = unknown> extends JobKind<Input, Result> {
  readonly queue: string | undefined
  readonly payload: Schema | undefined
  readonly result: Schema | undefined
  readonly priority: number | undefined
  readonly maxAttempts: number | undefined
  readonly timeoutMs: number | undefined
  readonly backoff: BackoffPlan | undefined
  readonly retryIf: ((error: unknown, job: JobInfo) => boolean) | undefined
  readonly run: (context: JobContext) => unknown
  readonly onDead: ((context: DeadContext) => unknown) | undefined
  /** Something the handler needs while jobs run, such as child processes. */
  readonly service: Service | undefined
  /** Whether the handler enforces a timeout that this payload names. If so, `timeoutMs` does not apply. */
  readonly hasOwnTimeout?: (payload: unknown) => boolean
}

/** A definition of any kind. */
export type AnyJob = JobDefinition

interface WithSchema<PayloadSchema extends StandardSchemaV1, Returned, Kept> extends JobPolicy {
  readonly kind: string
  readonly payload: PayloadSchema
  readonly result?: StandardSchemaV1<Awaited<Returned>, Kept>
  readonly run: (context: JobContext<StandardSchemaV1.InferOutput<PayloadSchema>>) => Returned
  /** Runs as a job of its own, once each time a job becomes dead. */
  readonly onDead?: (context: DeadContext<StandardSchemaV1.InferInput<PayloadSchema>>) => unknown
  readonly service?: Service
}

/**
 * Makes `defineJob<Payload>(…)` a compile error with a hint. With the type on the handler, the result type is
 * inferred.
 */
type AnnotateTheHandler<Payload> = readonly [
  'Write run({ payload }: JobContext<Payload>) instead of defineJob<Payload>(…).',
  Payload,
]

interface Plain<Payload, Returned, Kept> extends JobPolicy {
  readonly kind: string
  readonly payload?: undefined
  readonly result?: StandardSchemaV1<Awaited<Returned>, Kept>
  readonly run: (context: JobContext<Payload>) => Returned
  readonly onDead?: (context: DeadContext<NoInfer<Payload>>) => unknown
  readonly service?: Service
}

/**
 * TypeScript infers all type arguments or none, so passing only the payload type would lose the result type.
 */
export function defineJob<Payload>(options: AnnotateTheHandler<Payload>): JobDefinition<Payload>
/** With a schema, the types of payload and result follow from it. */
export function defineJob<PayloadSchema extends StandardSchemaV1, Returned, Kept = Awaited<Returned>>(
  options: WithSchema<PayloadSchema, Returned, Kept> & MustBeJson<StandardSchemaV1.InferInput<PayloadSchema>>,
): JobDefinition<StandardSchemaV1.InferInput<PayloadSchema>, Stored<Kept>>
/** Without a schema, annotate the handler: `run({ payload }: JobContext<{ to: string }>)`. */
export function defineJob<Payload, Returned, Kept = Awaited<Returned>>(
  options: Plain<Payload, Returned, Kept> & MustBeJson<Payload>,
): JobDefinition<Payload, Stored<Kept>>
export function defineJob(given: unknown): AnyJob {
  const options = given as Plain<never, unknown, unknown>
  checkObjectKeys(options, 'job', KEYS)
  const kind = checkName(options.kind, 'job.kind')
  const at = `job ${kind}`
  const run: unknown = options.run
  if (typeof run !== 'function') throw notAFunction(`${at}.run`, run)
  if (options.onDead !== undefined) checkOnDead(options.onDead, kind, at)
  return Object.freeze({
    kind,
    queue: options.queue === undefined ? undefined : checkName(options.queue, `${at}.queue`),
    payload: checkSchema(options.payload, `${at}.payload`),
    result: checkSchema(options.result, `${at}.result`),
    priority: whole(options.priority, `${at}.priority`, BOUNDS.priority),
    maxAttempts: whole(options.maxAttempts, `${at}.maxAttempts`, BOUNDS.maxAttempts),
    timeoutMs: options.timeout === undefined ? undefined : timeoutMs(options.timeout, `${at}.timeout`),
    backoff: options.backoff === undefined ? undefined : backoffPlan(options.backoff, `${at}.backoff`),
    retryIf: checkRetryIf(options.retryIf, `${at}.retryIf`),
    // Only the caller knows the types of payload and result. From here on they are opaque.
    run: run.bind(options) as JobDefinition['run'],
    onDead: options.onDead?.bind(options) as JobDefinition['onDead'],
    service: options.service,
    [JOB_KIND]: { takes: () => {}, gives: () => undefined },
  })
}

const KEYS = [
  'kind',
  'payload',
  'result',
  'queue',
  'priority',
  'maxAttempts',
  'timeout',
  'backoff',
  'retryIf',
  'run',
  'onDead',
  'service',
]

export function isDefinition(value: unknown): value is AnyJob {
  return typeof value === 'object' && value !== null && JOB_KIND in value
}

function notAFunction(field: string, value: unknown): JobmillError {
  return new JobmillError('HANDLER_INVALID', 'must be a function', {
    field,
    value: quote(value),
    fix: 'Pass a function that takes a context',
  })
}

function checkOnDead(onDead: unknown, kind: string, at: string): void {
  if (typeof onDead !== 'function') throw notAFunction(`${at}.onDead`, onDead)
  // The kind that runs onDead is a few characters longer.
  checkName(onDeadKind(kind), `${at}.kind with onDead`)
}

function checkRetryIf(retryIf: JobPolicy['retryIf'], field: string): JobPolicy['retryIf'] {
  if (retryIf !== undefined)
    checkFunction(retryIf, field, 'Pass a function that takes the error and returns whether to retry')
  return retryIf
}

function checkSchema(schema: unknown, field: string): Schema | undefined {
  if (schema === undefined || isSchema(schema)) return schema
  throw new JobmillError('OPTION_INVALID', 'must be a schema', {
    field,
    value: quote(schema),
    fix: 'Pass a Standard Schema, such as z.object({ … }) of zod 4 or v.object({ … }) of valibot 1',
  })
}

function whole(value: unknown, field: string, bounds: { least: number; most: number }): number | undefined {
  return value === undefined ? undefined : checkWhole(value, field, bounds)
}
