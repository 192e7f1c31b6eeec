/** The context object that a handler receives. */
import type { Duration } from './duration.ts'
import type { EnqueuedJob, EnqueueItem, EnqueueOptions, JobHandle } from './enqueue/handle.ts'
import type { EventSchemas } from './kind/event-schemas.ts'
import type { JobKind } from './kind/job-kind.ts'
import type { LimitInside } from './limit/limit-handle.ts'
import type { Step } from './step/step.ts'

export interface JobInfo {
  readonly id: string
  readonly kind: string
  readonly queue: string
  readonly priority: number
  /** 1 on the first run. */
  readonly attempt: number
  readonly maxAttempts: number
  /** How many times a process crashed while running this job. */
  readonly crashes: number
  /** Milliseconds since the epoch, by the database clock. */
  readonly enqueuedAt: number
  readonly tags: readonly string[]
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly orderKey: string | null
  /** The group of the job in its queue; null for none. */
  readonly group: string | null
  /**
   * The lease token (fencing token) of this attempt; it rises with every claim. Pass it to external systems
   * that can refuse an older one.
   */
  readonly token: number
}

export interface InstanceInfo {
  readonly id: string
  readonly label: string | null
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Stored with the attempt, up to 64 KiB. Fields can be any JSON value, and errors. */
export interface JobLog {
  (message: string, fields?: Readonly<Record<string, unknown>>): void
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** As `mill.enqueue`, plus `withCompletion`. */
interface EnqueueInside {
  (kind: string): Promise<JobHandle>
  <Result>(job: JobKind<null, Result>): Promise<EnqueuedJob<Result>>
  (kind: string, payload: unknown, options?: OptionsInside): Promise<JobHandle>
  <Input, Result>(
    job: JobKind<Input, Result>,
    payload: Input,
    options: WithCompletion,
  ): Promise<JobHandle<Result>>
  <Input, Result>(
    job: JobKind<Input, Result>,
    payload: Input,
    options?: OptionsInside,
  ): Promise<EnqueuedJob<Result>>
}

interface EnqueueManyInside {
  (
    kind: string,
    items: readonly EnqueueItem<unknown>[],
    options?: { readonly tx?: unknown; readonly withCompletion?: boolean },
  ): Promise<JobHandle[]>
  <Input, Result>(
    job: JobKind<Input, Result>,
    items: readonly EnqueueItem<Input>[],
    options?: { readonly tx?: unknown; readonly withCompletion?: boolean },
  ): Promise<JobHandle<Result>[]>
}

export interface OptionsInside extends EnqueueOptions {
  /** Your own transaction: the job exists once you commit it. */
  readonly tx?: unknown
  /**
   * Writes the job in the transaction that marks this job done, and not at all if this attempt ends
   * otherwise. The returned id is final unless another job holds the dedupe key by then.
   */
  readonly withCompletion?: boolean
}

interface WithCompletion extends EnqueueOptions {
  readonly withCompletion: true
}

/**
 * `Tx` and `Result` type `complete`: `JobContext<Order, PoolClient, Receipt>`. `Events` types `step`: it is
 * `typeof events` for the option `events` of the job.
 */
export interface JobContext<
  Payload = unknown,
  Tx = unknown,
  Result = unknown,
  Context = unknown,
  Events extends EventSchemas = EventSchemas,
> {
  readonly payload: Payload
  /** The option `context` of the mill, such as `{ db }`. Type it with `withContext`. */
  readonly context: Context
  readonly job: JobInfo
  /** Short for `job.attempt`. */
  readonly attempt: number
  /**
   * Aborts when the handler should stop. Its reason is an `Interruption` with `why`: cancelled, timeout,
   * shutdown, lease-lost or parked. Pass it to everything you call: the AbortError that they throw ends the
   * attempt correctly.
   */
  readonly signal: AbortSignal
  /** Reports progress: a percentage, or any JSON value. Stored within a second; the last value wins. */
  readonly progress: (value: unknown) => void
  readonly log: JobLog
  /** Milliseconds since the epoch, by the clock of this process. In tests, this is the fake clock. */
  readonly now: () => number
  readonly instance: InstanceInfo
  readonly enqueue: EnqueueInside
  readonly enqueueMany: EnqueueManyInside
  /**
   * Durable steps: `step.run` records a result once, and `step.sleep` and `step.waitForEvent` wait for days
   * without occupying a worker.
   */
  readonly step: Step<Tx, Events>
  /** Limits shared by all processes: `await limit.acquire('smtp')`. */
  readonly limit: LimitInside
  /**
   * The error text of the previous attempt; null if none has failed or crashed. Read from the store when
   * called, so jobs that do not call it pay nothing: `if ((await previousError())?.includes('quota')) …`
   */
  readonly previousError: () => Promise<string | null>
  /**
   * Ends the attempt by throwing. The job runs again after this time, and the attempt is not spent. Write
   * `return snooze('1m')` to let the compiler see the exit.
   */
  readonly snooze: (time: Duration) => never
  /**
   * Marks this job done in your own transaction, together with the jobs enqueued `withCompletion`. Throws
   * LEASE_LOST when the attempt no longer holds its lease. If you roll back, the attempt counts as failed.
   */
  readonly complete: (tx: Tx, result?: Result) => Promise<void>
}

/** What the contexts of `onDead` and `onCancelled` share: that of a handler, without `complete`. */
interface FollowUpContext<Payload, Context> extends Omit<
  JobContext<Payload, unknown, unknown, Context>,
  'payload' | 'complete'
> {
  /**
   * The payload as stored, not validated against the schema: a mismatch may be the reason why the job died.
   */
  readonly payload: Payload
  /** The recorded steps of the job, newest first, to undo what they did. */
  readonly steps: readonly RecordedStep[]
}

/** The context of `onDead`: that of a handler, plus the dead job. */
export interface DeadContext<Payload = unknown, Context = unknown> extends FollowUpContext<Payload, Context> {
  /** The dead job; `job` is the one that runs `onDead`. */
  readonly dead: EndedJobInfo
  /** The error of its last attempt, with its causes. */
  readonly error: string
}

/** The context of `onCancelled`: that of a handler, plus the cancelled job. */
export interface CancelledContext<Payload = unknown, Context = unknown> extends FollowUpContext<
  Payload,
  Context
> {
  /** The cancelled job; `job` is the one that runs `onCancelled`. */
  readonly cancelled: EndedJobInfo
  /** The reason that was passed to `cancel`. */
  readonly reason: string
}

type EndedJobInfo = Pick<JobInfo, 'id' | 'kind' | 'queue' | 'attempt' | 'crashes' | 'tags' | 'metadata'>

export interface RecordedStep {
  readonly name: string
  /** As stored. Undefined if the step has no result. */
  readonly result: unknown
}
