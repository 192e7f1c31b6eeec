/** `declareJob`: a kind with its schemas and options, and without its handler. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type Backoff, type BackoffPlan, backoffPlan } from '../attempt/backoff.ts'
import { BOUNDS } from '../defaults.ts'
import { type Duration, timeoutMs } from '../duration.ts'
import { invalidValue } from '../errors.ts'
import { checkEventSchemas, type EventSchemas, type EventsMustBeJson } from './event-schemas.ts'
import { JOB_KIND, type JobKind, type Named } from './job-kind.ts'
import { checkName } from '../names.ts'
import { checkWhole } from '../numbers.ts'
import { checkObjectKeys } from '../options/known-keys.ts'
import type { MustBeJson } from '../payload/json-payload.ts'
import { checkGroup, type GroupOption, type GroupRule } from '../payload/group.ts'
import { checkIndexedPayload } from '../payload/indexed.ts'
import type { PayloadPath } from '../payload/payload-path.ts'
import { checkSchema, type Schema } from '../payload/schema.ts'
import type { Stored } from '../payload/stored.ts'

/** The options of a kind that apply to all of its jobs. A single job may override the first four. */
export interface JobPolicy {
  /** The queue of its jobs. Omitted: the mill's route for the kind. */
  readonly queue?: string
  /** The priority of its jobs: lower runs first (default 0). */
  readonly priority?: number
  /** Its jobs are dead after this many failed attempts (default 5). */
  readonly maxAttempts?: number
  /** How long one attempt may take. Omitted: no timeout. */
  readonly timeout?: Duration
  /** The delay before each retry. Omitted: the exponential backoff of the queue. */
  readonly backoff?: Backoff
}

declare const HANDLER: unique symbol

/**
 * `Input` and `Result` are those of `JobKind`. `Payload` is what the handler gets, and `Returned` what it
 * must return. `Events` has a schema for each event.
 */
export interface JobDeclaration<
  in Input = never,
  out Result = unknown,
  out Payload = unknown,
  in Returned = never,
  out Events extends EventSchemas = EventSchemas,
> extends JobKind<Input, Result> {
  readonly queue: string | undefined
  readonly payload: Schema | undefined
  readonly result: Schema | undefined
  readonly priority: number | undefined
  readonly maxAttempts: number | undefined
  readonly timeoutMs: number | undefined
  readonly backoff: BackoffPlan | undefined
  readonly indexedPayload: readonly string[] | undefined
  /** The group of a job with this payload. */
  readonly group: GroupRule | undefined
  /** Undefined if the kind declares none: then its jobs can receive any event. */
  readonly events: Events | undefined
  /** Exists only in the types. */
  readonly [HANDLER]?: { readonly gets: () => Payload; readonly returns: (value: Returned) => void }
}

interface WithSchema<
  PayloadSchema extends StandardSchemaV1,
  Returned,
  Kept,
  Events extends EventSchemas,
> extends JobPolicy {
  /** The name of the kind, such as `email.send`. Jobs in the database refer to it. */
  readonly kind: string
  /**
   * A Standard Schema, for example of zod, that validates payloads when jobs are enqueued and when they run.
   */
  readonly payload: PayloadSchema
  /**
   * A Standard Schema that validates the result. Without it, `defineJob` infers the type from the handler;
   * `declareJob` uses its type arguments, or `unknown`.
   */
  readonly result?: StandardSchemaV1<Returned, Kept>
  /**
   * Paths in the payload to index, such as `customer.id`: up to 5. Filters by their values need no scan. Each
   * adds a row per job, for a string, number or boolean of at most 200 characters. Default: none.
   */
  readonly indexedPayload?: readonly PayloadPath<StandardSchemaV1.InferInput<PayloadSchema>>[]
  /**
   * The group of each job in its queue, such as a tenant: a path in the payload, or a function of it. A job
   * without a value there has no group. Default: none.
   */
  readonly group?: GroupOption<StandardSchemaV1.InferInput<PayloadSchema>>
  /**
   * A Standard Schema for each event that its jobs receive. Types and validates `step.waitForEvent` of the
   * handler, and `mill.sendEvent` with this job. Default: any event, with any payload.
   */
  readonly events?: Events
}

interface Plain<Payload, Returned, Kept, Events extends EventSchemas> extends JobPolicy {
  readonly kind: string
  readonly payload?: undefined
  readonly result?: StandardSchemaV1<Returned, Kept>
  readonly indexedPayload?: readonly PayloadPath<NoInfer<Payload>>[]
  readonly group?: GroupOption<NoInfer<Payload>>
  readonly events?: Events
}

/** With schemas, the types of payload and result follow from them. */
export function declareJob<
  PayloadSchema extends StandardSchemaV1,
  Returned = unknown,
  Kept = Returned,
  Events extends EventSchemas = EventSchemas,
  Kind extends string = string,
>(
  options: WithSchema<PayloadSchema, Returned, Kept, Events> &
    Named<Kind> &
    MustBeJson<StandardSchemaV1.InferInput<PayloadSchema>> &
    EventsMustBeJson<Events>,
): JobDeclaration<
  StandardSchemaV1.InferInput<PayloadSchema>,
  Stored<Kept>,
  StandardSchemaV1.InferOutput<PayloadSchema>,
  Returned,
  Events
> &
  Named<Kind>
/** Without schemas, pass the types: `declareJob<{ to: string }, Receipt>({ kind: 'email.send' })`. */
export function declareJob<
  Payload = unknown,
  Returned = unknown,
  Kept = Returned,
  Events extends EventSchemas = EventSchemas,
  Kind extends string = string,
>(
  options: Plain<Payload, Returned, Kept, Events> &
    Named<Kind> &
    MustBeJson<Payload> &
    EventsMustBeJson<Events>,
): JobDeclaration<Payload, Stored<Kept>, Payload, Returned, Events> & Named<Kind>
export function declareJob(options: unknown): JobDeclaration {
  checkObjectKeys(options, 'job', DECLARATION_KEYS)
  return Object.freeze(checkDeclaration(options as JobPolicy & { readonly kind: string }))
}

export const DECLARATION_KEYS = [
  'kind',
  'payload',
  'result',
  'queue',
  'priority',
  'maxAttempts',
  'timeout',
  'backoff',
  'indexedPayload',
  'group',
  'events',
]

/** Checks the options that a declaration and a definition share. Ignores other keys. */
export function checkDeclaration(
  options: JobPolicy & {
    readonly kind: string
    readonly payload?: unknown
    readonly result?: unknown
    readonly indexedPayload?: unknown
    readonly group?: unknown
    readonly events?: unknown
  },
): JobDeclaration {
  const kind = checkName(options.kind, 'job.kind')
  const at = `job ${kind}`
  return {
    kind,
    queue: options.queue === undefined ? undefined : checkName(options.queue, `${at}.queue`),
    payload: schemaOf(options.payload, `${at}.payload`),
    result: schemaOf(options.result, `${at}.result`),
    priority: whole(options.priority, `${at}.priority`, BOUNDS.priority),
    maxAttempts: whole(options.maxAttempts, `${at}.maxAttempts`, BOUNDS.maxAttempts),
    timeoutMs: options.timeout === undefined ? undefined : timeoutMs(options.timeout, `${at}.timeout`),
    backoff: options.backoff === undefined ? undefined : backoffPlan(options.backoff, `${at}.backoff`),
    indexedPayload: pathsOf(options.indexedPayload, `${at}.indexedPayload`),
    group: options.group === undefined ? undefined : checkGroup(options.group, `${at}.group`),
    events: checkEventSchemas(options.events, `${at}.events`),
    [JOB_KIND]: { takes: () => {}, gives: () => undefined },
  }
}

/** Also true for a definition, which is a declaration with a handler. */
export function isDeclaration(value: unknown): value is JobDeclaration {
  return typeof value === 'object' && value !== null && JOB_KIND in value
}

/** For arguments that are a declaration, a definition or the name of a kind. */
export function checkTarget(value: unknown, field: string): JobDeclaration {
  if (isDeclaration(value)) return value
  const fix = "Pass the return value of defineJob or declareJob, or a kind such as 'email.send'"
  throw invalidValue(field, value, 'must be a job or the name of a kind', fix)
}

function schemaOf(schema: unknown, field: string): Schema | undefined {
  return schema === undefined ? undefined : checkSchema(schema, field)
}

/** An empty list indexes nothing, as if it was omitted. */
function pathsOf(given: unknown, field: string): readonly string[] | undefined {
  const paths = given === undefined ? [] : checkIndexedPayload(given, field)
  return paths.length === 0 ? undefined : paths
}

function whole(value: unknown, field: string, bounds: { least: number; most: number }): number | undefined {
  return value === undefined ? undefined : checkWhole(value, field, bounds)
}
