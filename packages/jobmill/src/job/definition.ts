/** `defineJob`: a kind, what its payload looks like, the handler, and the policy for when it fails. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Service } from '../platform/service.ts'
import { type Backoff, type BackoffPlan, backoffPlan } from './backoff.ts'
import type { DeadContext, JobContext, JobInfo } from './context.ts'
import { BOUNDS } from './defaults.ts'
import { type Duration, timeoutMs } from './duration.ts'
import { JobmillError, shown } from './errors.ts'
import { JOB_KIND, type JobKind } from './job-kind.ts'
import type { MustBeJson } from './json-payload.ts'
import { checkObjectKeys } from './known-keys.ts'
import { checkName } from './names.ts'
import { checkWhole } from './numbers.ts'
import { onDeadKind } from './on-dead.ts'
import { isSchema, type Schema } from './schema.ts'
import type { Stored } from './stored.ts'

/** What a kind says of all its jobs; a single job may say otherwise for the first four. */
export interface JobPolicy {
  /** The queue its jobs go to. Left out: as the mill routes the kind. */
  readonly queue?: string
  readonly priority?: number
  readonly maxAttempts?: number
  /** How long one attempt may take. Left out: as long as it takes. */
  readonly timeout?: Duration
  readonly backoff?: Backoff
  /** False: this error makes the job dead at once. */
  readonly retryIf?: (error: unknown, job: JobInfo) => boolean
}

/** `Input` is what `enqueue` takes, `Result` what `result()` gives. */
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
  /** What the handler needs alive while jobs run, such as children. */
  readonly service: Service | undefined
  /** Whether the handler enforces a timeout that this payload names. `timeoutMs`, a default then, does not apply to it. */
  readonly hasOwnTimeout?: (payload: unknown) => boolean
}

/** A definition of any kind. */
export type AnyJob = JobDefinition

interface WithSchema<PayloadSchema extends StandardSchemaV1, Returned, Kept> extends JobPolicy {
  readonly kind: string
  readonly payload: PayloadSchema
  readonly result?: StandardSchemaV1<Awaited<Returned>, Kept>
  readonly run: (context: JobContext<StandardSchemaV1.InferOutput<PayloadSchema>>) => Returned
  /** Runs once for every way into dead, as a job of its own. */
  readonly onDead?: (context: DeadContext<StandardSchemaV1.InferInput<PayloadSchema>>) => unknown
  readonly service?: Service
}

/** What `defineJob<Payload>(…)` takes, which is nothing: with the type at the handler, the result keeps its own. */
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

/** The compiler infers all type arguments or none, so a payload type alone would lose the type of the result. */
export function defineJob<Payload>(options: AnnotateTheHandler<Payload>): JobDefinition<Payload>
/** With a schema, the types of payload and result follow from it. */
export function defineJob<PayloadSchema extends StandardSchemaV1, Returned, Kept = Awaited<Returned>>(
  options: WithSchema<PayloadSchema, Returned, Kept> & MustBeJson<StandardSchemaV1.InferInput<PayloadSchema>>,
): JobDefinition<StandardSchemaV1.InferInput<PayloadSchema>, Stored<Kept>>
/** Without one, say what the payload is: `run({ payload }: JobContext<{ to: string }>)`. */
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
    // The types of payload and result are the caller's to know; from here on they are carried and not looked into.
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
  return new JobmillError('HANDLER_INVALID', 'is not a function', {
    field,
    value: shown(value),
    fix: 'Give a function that takes a context',
  })
}

function checkOnDead(onDead: unknown, kind: string, at: string): void {
  if (typeof onDead !== 'function') throw notAFunction(`${at}.onDead`, onDead)
  // The kind that runs it is longer by a few characters.
  checkName(onDeadKind(kind), `${at}.kind with onDead`)
}

function checkRetryIf(retryIf: JobPolicy['retryIf'], field: string): JobPolicy['retryIf'] {
  if (retryIf !== undefined && typeof retryIf !== 'function') throw notAFunction(field, retryIf)
  return retryIf
}

function checkSchema(schema: unknown, field: string): Schema | undefined {
  if (schema === undefined || isSchema(schema)) return schema
  throw new JobmillError('OPTION_INVALID', 'is not a schema', {
    field,
    value: shown(schema),
    fix: 'Give a Standard Schema, such as z.object({ … }) of zod 4 or v.object({ … }) of valibot 1',
  })
}

function whole(value: unknown, field: string, bounds: { least: number; most: number }): number | undefined {
  return value === undefined ? undefined : checkWhole(value, field, bounds)
}
