/** `step` of a handler: durable steps, sleeps, and waits for events and child jobs. */
import type { Duration } from '../duration.ts'
import type { EnqueueOptions } from '../enqueue/handle.ts'
import type { EventName, EventSchemas, ReceivedPayload } from '../kind/event-schemas.ts'
import type { JobKind } from '../kind/job-kind.ts'
import type { Schema } from '../payload/schema.ts'
import type { Stored } from '../payload/stored.ts'

/** What a step gets while it runs. */
export interface StepContext {
  readonly name: string
  /**
   * The same in every attempt. Pass it to services that recognize repeated requests, because a step that was
   * interrupted before it was recorded runs again.
   */
  readonly idempotencyKey: string
  /** The number of the attempt, counted from the last recorded step. */
  readonly attempt: number
  /** Aborts when the attempt is asked to stop, or after the timeout of the step. */
  readonly signal: AbortSignal
  /** What earlier attempts stored last with `saveCheckpoint`. Undefined if there is none. */
  readonly checkpoint: unknown
  /** Stores the position of a long loop, for the next attempt. Resolves after the commit. */
  readonly saveCheckpoint: (value: unknown) => Promise<void>
}

export interface StepOptions {
  /** The step fails with STEP_TIMED_OUT if it takes longer. */
  readonly timeout?: Duration
}

export interface EventOptions {
  /** How long to wait at most. The wait then returns null. */
  readonly timeout?: Duration
  /** Validates the payload of the event. Default: its schema in the option `events` of the job, if any. */
  readonly schema?: Schema
  /** The name of the step. Default: the name of the event, or the names joined by `or`. */
  readonly name?: string
}

/** The options of `enqueue`, without dedupe and debounce: a step enqueues its children only once anyway. */
export type ChildOptions = Omit<EnqueueOptions, 'id' | 'dedupe' | 'dedupeKey' | 'debounce'>

/** The schema of the options, if they have one, decides the type. */
type PayloadOf<Options, Declared> = Options extends { readonly schema: Schema<unknown, infer Output> }
  ? Output
  : 'schema' extends keyof Options
    ? unknown
    : Declared
type OrTimeout<Options> = Options extends { readonly timeout: Duration } ? null : never

export interface ReceivedEvent<Payload = unknown, Name = string> {
  readonly event: Name
  readonly payload: Payload
}

/** One of several events: with declared events, the name says which payload it has. */
type AnyOf<Events, Name extends EventName<Events>, Options> =
  string extends EventName<Events>
    ? ReceivedEvent<PayloadOf<Options, unknown>>
    : { [One in Name]: ReceivedEvent<PayloadOf<Options, ReceivedPayload<Events, One>>, One> }[Name]

declare const EVENTS: unique symbol

/**
 * Once a step is recorded, no attempt of the job runs it again, and every attempt gets its stored result. The
 * name identifies a step within the job.
 */
export interface Step<Tx = unknown, Events extends EventSchemas = EventSchemas> {
  /** Types only: a handler for declared events does not fit a job that does not declare them. */
  readonly [EVENTS]?: Events
  /** Runs a function and records its result. */
  run<Result>(
    name: string,
    run: (step: StepContext) => Result | Promise<Result>,
    options?: StepOptions,
  ): Promise<Stored<Awaited<Result>>>
  /**
   * Waits without occupying a worker: the attempt ends as `parked`, and the handler runs again from its start
   * after the wait. Hold nothing open across a wait.
   */
  sleep(name: string, time: Duration): Promise<void>
  /** As `sleep`, until a Date, milliseconds since the epoch, or ISO 8601 text with a time zone. */
  sleepUntil(name: string, instant: Date | number | string): Promise<void>
  /**
   * Waits for an event that `mill.sendEvent` sends to this job, without occupying a worker. An event that was
   * sent earlier is received too. Returns its payload, or null after the timeout. With several names, waits
   * for the first of them, and returns `{ event, payload }`. The option `events` of the job types both.
   */
  waitForEvent<
    const Options extends EventOptions = object,
    Name extends EventName<Events> = EventName<Events>,
  >(
    event: Name,
    options?: Options,
  ): Promise<PayloadOf<Options, ReceivedPayload<Events, Name>> | OrTimeout<Options>>
  waitForEvent<
    const Options extends EventOptions = object,
    Name extends EventName<Events> = EventName<Events>,
  >(
    events: readonly Name[],
    options?: Options,
  ): Promise<AnyOf<Events, Name, Options> | OrTimeout<Options>>
  /**
   * Enqueues a job and waits for its result, without occupying a worker. Throws ChildFailed if the job is
   * dead or cancelled. When this job is cancelled, its children are cancelled too.
   */
  child<Result>(name: string, job: JobKind<null, Result>): Promise<Result>
  child(name: string, kind: string, payload: unknown, options?: ChildOptions): Promise<unknown>
  child<Input, Result>(
    name: string,
    job: JobKind<Input, Result>,
    payload: Input,
    options?: ChildOptions,
  ): Promise<Result>
  /** As `child`, for one job per payload. Returns the results in the order of the payloads. */
  children(
    name: string,
    kind: string,
    payloads: readonly unknown[],
    options?: ChildOptions,
  ): Promise<unknown[]>
  children<Input, Result>(
    name: string,
    job: JobKind<Input, Result>,
    payloads: readonly Input[],
    options?: ChildOptions,
  ): Promise<Result[]>
  /**
   * Runs a function and records its result in your own transaction: both are committed together. On SQLite,
   * the function must not be async if it runs in `db.transaction()`.
   */
  transaction<Result>(
    tx: Tx,
    name: string,
    run: () => Result | Promise<Result>,
  ): Promise<Stored<Awaited<Result>>>
}
