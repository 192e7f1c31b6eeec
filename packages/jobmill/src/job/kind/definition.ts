/** `defineJob` and `implement`: a kind with the handler that runs its jobs. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Service } from '../../platform/service.ts'
import { onDeadKind } from '../attempt/on-dead.ts'
import type { DeadContext, JobContext, JobInfo } from '../context.ts'
import {
  checkDeclaration,
  DECLARATION_KEYS,
  isDeclaration,
  type JobDeclaration,
  type JobPolicy,
} from './declaration.ts'
import { invalidValue } from '../errors.ts'
import { checkName } from '../names.ts'
import { checkFunction } from '../numbers.ts'
import { checkObjectKeys } from '../options/known-keys.ts'
import type { MustBeJson } from '../payload/json-payload.ts'
import type { PayloadPath } from '../payload/payload-path.ts'
import type { Stored } from '../payload/stored.ts'

/** Fits every mill: the types of `jobs` and `context` are compared where both are passed. */
// oxlint-disable-next-line typescript/no-explicit-any
type AnyContext = any

/**
 * `Input` is the payload type of `enqueue`, `Result` the type that `result()` resolves to. `Context` is what
 * its handler needs of the option `context`.
 */
export interface JobDefinition<
  in Input = never,
  out Result = unknown,
  in Context = AnyContext,
> extends JobDeclaration<Input, Result> {
  readonly retryIf: RetryIf | undefined
  readonly run: (context: JobContext<unknown, unknown, unknown, Context>) => unknown
  readonly onDead: ((context: DeadContext<unknown, Context>) => unknown) | undefined
  /** Something the handler needs while jobs run, such as child processes. */
  readonly service: Service | undefined
  /** Whether the handler enforces a timeout that this payload names. If so, `timeoutMs` does not apply. */
  readonly hasOwnTimeout?: (payload: unknown) => boolean
}

/** A definition of any kind. */
export type AnyJob = JobDefinition

type RetryIf = (error: unknown, job: JobInfo) => boolean

/**
 * What runs the jobs of a kind. `StoredPayload` is the type of the payload as it was enqueued, `Completed`
 * the type of the result that `complete` takes.
 */
export interface JobHandler<Payload, Returned, StoredPayload, Context, Completed = unknown> {
  /** Runs one attempt of a job. Its return value is the result, and an error makes the attempt fail. */
  readonly run: (context: JobContext<Payload, unknown, Completed, Context>) => Returned
  /** Runs as a job of its own, once each time a job becomes dead. */
  readonly onDead?: (context: DeadContext<NoInfer<StoredPayload>, NoInfer<Context>>) => unknown
  /** Returns false to make the job dead at once for this error. */
  readonly retryIf?: RetryIf
  /** A part that the handler needs, such as child processes. The mill starts and stops it. */
  readonly service?: Service
}

/** Without a schema of the result, the handler decides the type of the result. */
type ResultSchema = StandardSchemaV1 | undefined
/** What a handler must return. */
type Returns<Schema, Returned> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<Schema> | PromiseLike<StandardSchemaV1.InferInput<Schema>>
  : Returned
/** The type that `result()` resolves to. */
type ResultOf<Schema, Returned> = Stored<
  Schema extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Schema> : Awaited<Returned>
>

interface WithSchema<PayloadSchema extends StandardSchemaV1, Returned, Result extends ResultSchema, Context>
  extends
    JobPolicy,
    JobHandler<
      StandardSchemaV1.InferOutput<PayloadSchema>,
      Returns<Result, Returned>,
      StandardSchemaV1.InferInput<PayloadSchema>,
      Context
    > {
  readonly kind: string
  readonly payload: PayloadSchema
  readonly result?: Result
  readonly indexedPayload?: readonly PayloadPath<StandardSchemaV1.InferInput<PayloadSchema>>[]
}

interface Plain<Payload, Returned, Result extends ResultSchema, Context>
  extends JobPolicy, JobHandler<Payload, Returns<Result, Returned>, Payload, Context> {
  readonly kind: string
  readonly payload?: undefined
  readonly result?: Result
  readonly indexedPayload?: readonly PayloadPath<NoInfer<Payload>>[]
}

/**
 * Makes `defineJob<Payload>(…)` a compile error with a hint. With the type on the handler, the result type is
 * inferred.
 */
type AnnotateTheHandler<Payload> = readonly [
  'Write run({ payload }: JobContext<Payload>) instead of defineJob<Payload>(…).',
  Payload,
]

export interface DefineJob<Context = unknown> {
  /**
   * TypeScript infers all type arguments or none, so passing only the payload type would lose the result
   * type.
   */
  <Payload>(options: AnnotateTheHandler<Payload>): JobDefinition<Payload>
  /** With a schema, the types of payload and result follow from it. */
  <PayloadSchema extends StandardSchemaV1, Returned, Result extends ResultSchema = undefined>(
    options: WithSchema<PayloadSchema, Returned, Result, Context> &
      MustBeJson<StandardSchemaV1.InferInput<PayloadSchema>>,
  ): JobDefinition<StandardSchemaV1.InferInput<PayloadSchema>, ResultOf<Result, Returned>, Context>
  /** Without a schema, annotate the handler: `run({ payload }: JobContext<{ to: string }>)`. */
  <Payload, Returned, Result extends ResultSchema = undefined, Own = Context>(
    options: Plain<Payload, Returned, Result, Own> & MustBeJson<Payload>,
  ): JobDefinition<Payload, ResultOf<Result, Returned>, Own>
}

export interface Implement<Context = unknown> {
  /**
   * The definition of a declared kind: `implement(sendEmail, async ({ payload }) => …)`, or
   * `{ run, onDead, retryIf }` instead of the function.
   */
  <Input, Result, Payload, Returned, Own = Context>(
    declaration: JobDeclaration<Input, Result, Payload, Returned>,
    handler:
      | JobHandler<Payload, Returned | Promise<Returned>, Input, Own, Returned>['run']
      | JobHandler<Payload, Returned | Promise<Returned>, Input, Own, Returned>,
  ): JobDefinition<Input, Result, Own>
  /** For a handler whose annotation leaves the result of `complete` open: `JobContext<Payload>`. */
  <Input, Result, Payload, Returned, Own = Context>(
    declaration: JobDeclaration<Input, Result, Payload, Returned>,
    handler:
      | JobHandler<Payload, Returned | Promise<Returned>, Input, Own>['run']
      | JobHandler<Payload, Returned | Promise<Returned>, Input, Own>,
  ): JobDefinition<Input, Result, Own>
}

/** A kind with its handler in one place: the short form of `declareJob` and `implement`. */
export const defineJob: DefineJob = (options: unknown): never => {
  checkObjectKeys(options, 'job', [...DECLARATION_KEYS, ...HANDLER_KEYS])
  const given = options as Plain<never, unknown, undefined, never>
  return definition(checkDeclaration(given), given) as never
}

/** Adds the handler to a declaration, in the processes that run its jobs. */
export const implement: Implement = (declaration: unknown, handler: unknown): never => {
  if (!isDeclaration(declaration)) {
    const fix = 'Pass the return value of declareJob'
    throw invalidValue('declaration', declaration, 'must be a declaration', fix)
  }
  if (typeof handler === 'object') checkObjectKeys(handler, `job ${declaration.kind}`, HANDLER_KEYS)
  const options = typeof handler === 'object' ? handler : { run: handler }
  return definition(declaration, options as JobHandler<never, unknown, never, never>) as never
}

/**
 * Types the `context` of handlers, which the mill injects: `export const { defineJob, implement } =
 * withContext<{ db: Database }>()`.
 */
export function withContext<Context extends object>(): {
  readonly defineJob: DefineJob<Context>
  readonly implement: Implement<Context>
} {
  return { defineJob: defineJob as DefineJob<Context>, implement }
}

const HANDLER = 'Pass a function that takes a context'
const RETRY_IF = 'Pass a function that takes the error and returns whether to retry'
const HANDLER_KEYS = ['run', 'onDead', 'retryIf', 'service']

function definition(
  declaration: JobDeclaration,
  handler: JobHandler<never, unknown, never, never>,
): JobDefinition {
  const at = `job ${declaration.kind}`
  const run: unknown = handler.run
  checkFunction(run, `${at}.run`, HANDLER)
  const { onDead, retryIf } = handler
  if (onDead !== undefined) {
    checkFunction(onDead, `${at}.onDead`, HANDLER)
    // The kind that runs onDead is a few characters longer.
    checkName(onDeadKind(declaration.kind), `${at}.kind with onDead`)
  }
  if (retryIf !== undefined) checkFunction(retryIf, `${at}.retryIf`, RETRY_IF)
  return Object.freeze({
    ...declaration,
    retryIf,
    // Only the caller knows the types of payload and result. From here on they are opaque.
    run: run.bind(handler) as JobDefinition['run'],
    onDead: onDead?.bind(handler) as JobDefinition['onDead'],
    service: handler.service,
  })
}

export function isDefinition(value: unknown): value is AnyJob {
  return isDeclaration(value) && 'run' in value
}
