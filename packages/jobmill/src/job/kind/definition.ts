/** `defineJob` and `implement`: a kind with the handler that runs its jobs. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Service } from '../../platform/service.ts'
import { onCancelledKind } from '../attempt/on-cancelled.ts'
import { onDeadKind } from '../attempt/on-dead.ts'
import type { CancelledContext, DeadContext, JobContext } from '../context.ts'
import {
  checkDeclaration,
  DECLARATION_KEYS,
  isDeclaration,
  type JobDeclaration,
  type JobPolicy,
} from './declaration.ts'
import {
  checkChunk,
  type ChunkHandler,
  type ChunkPlan,
  type ChunkWithSchema,
  type PlainChunk,
} from './chunk.ts'
import { BOUNDS } from '../defaults.ts'
import { invalidValue } from '../errors.ts'
import type { EventSchemas, EventsMustBeJson } from './event-schemas.ts'
import type { JobHandler, RetryIf } from './job-handler.ts'
import type { Named } from './job-kind.ts'
import { checkName } from '../names.ts'
import { checkFunction, checkWhole } from '../numbers.ts'
import { checkObjectKeys } from '../options/known-keys.ts'
import type { MustBeJson } from '../payload/json-payload.ts'
import type { GroupOption } from '../payload/group.ts'
import type { PayloadPath } from '../payload/payload-path.ts'
import type { Stored } from '../payload/stored.ts'

/** Fits every mill: the types of `jobs` and `context` are compared where both are passed. */
// oxlint-disable-next-line typescript/no-explicit-any
type AnyContext = any

/**
 * `Input` is the payload type of `enqueue`, `Result` the type that `result()` resolves to. `Context` is what
 * its handler needs from the option `context`, and `Events` has a schema for each event.
 */
export interface JobDefinition<
  in Input = never,
  out Result = unknown,
  in Context = AnyContext,
  out Events extends EventSchemas = EventSchemas,
> extends JobDeclaration<Input, Result, unknown, never, Events> {
  readonly retryIf: RetryIf | undefined
  readonly run: (context: JobContext<unknown, unknown, unknown, Context>) => unknown
  readonly onDead: ((context: DeadContext<unknown, Context>) => unknown) | undefined
  readonly onCancelled: ((context: CancelledContext<unknown, Context>) => unknown) | undefined
  readonly version: number | undefined
  /** If set, `run` takes a chunk of jobs. */
  readonly chunk: ChunkPlan | undefined
  /** Something the handler needs while jobs run, such as child processes. */
  readonly service: Service | undefined
  /** Whether the handler enforces a timeout that this payload names. If so, `timeoutMs` does not apply. */
  readonly hasOwnTimeout?: (payload: unknown) => boolean
}

/** A definition of any kind. */
export type AnyJob = JobDefinition

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

interface WithSchema<
  PayloadSchema extends StandardSchemaV1,
  Returned,
  Result extends ResultSchema,
  Context,
  Events extends EventSchemas,
>
  extends
    JobPolicy,
    JobHandler<
      StandardSchemaV1.InferOutput<PayloadSchema>,
      Returns<Result, Returned>,
      StandardSchemaV1.InferInput<PayloadSchema>,
      Context,
      unknown,
      NoInfer<Events>
    > {
  readonly kind: string
  readonly payload: PayloadSchema
  readonly result?: Result
  readonly indexedPayload?: readonly PayloadPath<StandardSchemaV1.InferInput<PayloadSchema>>[]
  readonly group?: GroupOption<StandardSchemaV1.InferInput<PayloadSchema>>
  readonly events?: Events
}

interface Plain<Payload, Returned, Result extends ResultSchema, Context, Events extends EventSchemas>
  extends
    JobPolicy,
    JobHandler<Payload, Returns<Result, Returned>, Payload, Context, unknown, NoInfer<Events>> {
  readonly kind: string
  readonly payload?: undefined
  readonly result?: Result
  readonly indexedPayload?: readonly PayloadPath<NoInfer<Payload>>[]
  readonly group?: GroupOption<NoInfer<Payload>>
  readonly events?: Events
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
  /** A handler that gets many jobs per call. */
  <PayloadSchema extends StandardSchemaV1, Kind extends string = string>(
    options: ChunkWithSchema<PayloadSchema, Context> &
      Named<Kind> &
      MustBeJson<StandardSchemaV1.InferInput<PayloadSchema>>,
  ): JobDefinition<StandardSchemaV1.InferInput<PayloadSchema>, undefined, Context> & Named<Kind>
  /** Without a schema, annotate the handler: `run({ jobs }: ChunkContext<{ to: string }>)`. */
  <Payload, Own = Context, Kind extends string = string>(
    options: PlainChunk<Payload, Own> & Named<Kind> & MustBeJson<Payload>,
  ): JobDefinition<Payload, undefined, Own> & Named<Kind>
  /** With a schema, the types of payload and result follow from it. */
  <
    PayloadSchema extends StandardSchemaV1,
    Returned,
    Result extends ResultSchema = undefined,
    Events extends EventSchemas = EventSchemas,
    Kind extends string = string,
  >(
    options: WithSchema<PayloadSchema, Returned, Result, Context, Events> &
      Named<Kind> &
      MustBeJson<StandardSchemaV1.InferInput<PayloadSchema>> &
      EventsMustBeJson<Events>,
  ): JobDefinition<StandardSchemaV1.InferInput<PayloadSchema>, ResultOf<Result, Returned>, Context, Events> &
    Named<Kind>
  /** Without a schema, annotate the handler: `run({ payload }: JobContext<{ to: string }>)`. */
  <
    Payload,
    Returned,
    Result extends ResultSchema = undefined,
    Own = Context,
    Events extends EventSchemas = EventSchemas,
    Kind extends string = string,
  >(
    options: Plain<Payload, Returned, Result, Own, Events> &
      Named<Kind> &
      MustBeJson<Payload> &
      EventsMustBeJson<Events>,
  ): JobDefinition<Payload, ResultOf<Result, Returned>, Own, Events> & Named<Kind>
}

export interface Implement<Context = unknown> {
  /** A handler that gets many jobs per call: `implement(indexPage, { chunk: { size: 500 }, run })`. */
  <Input, Payload, Own = Context, Kind extends string = string>(
    declaration: JobDeclaration<Input, unknown, Payload> & Named<Kind>,
    handler: ChunkHandler<Payload, Input, Own>,
  ): JobDefinition<Input, undefined, Own> & Named<Kind>
  /**
   * The definition of a declared kind: `implement(sendEmail, async ({ payload }) => …)`, or
   * `{ run, onDead, retryIf }` instead of the function.
   */
  <
    Input,
    Result,
    Payload,
    Returned,
    Own = Context,
    Events extends EventSchemas = EventSchemas,
    Kind extends string = string,
  >(
    declaration: JobDeclaration<Input, Result, Payload, Returned, Events> & Named<Kind>,
    handler:
      | JobHandler<Payload, Returned | Promise<Returned>, Input, Own, Returned, NoInfer<Events>>['run']
      | JobHandler<Payload, Returned | Promise<Returned>, Input, Own, Returned, NoInfer<Events>>,
  ): JobDefinition<Input, Result, Own, Events> & Named<Kind>
  /** For a handler whose annotation leaves the result of `complete` open: `JobContext<Payload>`. */
  <
    Input,
    Result,
    Payload,
    Returned,
    Own = Context,
    Events extends EventSchemas = EventSchemas,
    Kind extends string = string,
  >(
    declaration: JobDeclaration<Input, Result, Payload, Returned, Events> & Named<Kind>,
    handler:
      | JobHandler<Payload, Returned | Promise<Returned>, Input, Own, unknown, NoInfer<Events>>['run']
      | JobHandler<Payload, Returned | Promise<Returned>, Input, Own, unknown, NoInfer<Events>>,
  ): JobDefinition<Input, Result, Own, Events> & Named<Kind>
}

/** A kind with its handler in one place: the short form of `declareJob` and `implement`. */
export const defineJob: DefineJob = (options: unknown): never => {
  checkObjectKeys(options, 'job', [...DECLARATION_KEYS, ...HANDLER_KEYS])
  const given = options as Plain<never, unknown, undefined, never, EventSchemas>
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
const HANDLER_KEYS = ['run', 'onDead', 'onCancelled', 'retryIf', 'service', 'version', 'chunk']

function definition(
  declaration: JobDeclaration,
  handler: JobHandler<never, unknown, never, never>,
): JobDefinition {
  const at = `job ${declaration.kind}`
  const run: unknown = handler.run
  checkFunction(run, `${at}.run`, HANDLER)
  const { onDead, onCancelled, retryIf } = handler
  if (onDead !== undefined) {
    checkFunction(onDead, `${at}.onDead`, HANDLER)
    // The kind that runs onDead is a few characters longer.
    checkName(onDeadKind(declaration.kind), `${at}.kind with onDead`)
  }
  if (onCancelled !== undefined) {
    checkFunction(onCancelled, `${at}.onCancelled`, HANDLER)
    checkName(onCancelledKind(declaration.kind), `${at}.kind with onCancelled`)
  }
  if (retryIf !== undefined) checkFunction(retryIf, `${at}.retryIf`, RETRY_IF)
  const { chunk } = handler as { readonly chunk?: unknown }
  return Object.freeze({
    ...declaration,
    retryIf,
    // Only the caller knows the types of payload and result. From here on they are opaque.
    run: run.bind(handler) as JobDefinition['run'],
    onDead: onDead?.bind(handler) as JobDefinition['onDead'],
    onCancelled: onCancelled?.bind(handler) as JobDefinition['onCancelled'],
    service: handler.service,
    chunk:
      chunk === undefined ? undefined : checkChunk(chunk, `${at}.chunk`, declaration.result !== undefined),
    version:
      handler.version === undefined
        ? undefined
        : checkWhole(handler.version, `${at}.version`, BOUNDS.version),
  })
}

export function isDefinition(value: unknown): value is AnyJob {
  return isDeclaration(value) && 'run' in value
}
