/** What a handler is given. */
import type { Duration } from './duration.ts'
import type { EnqueuedJob, EnqueueItem, EnqueueOptions, JobHandle } from './handle.ts'
import type { JobKind } from './job-kind.ts'
import type { LimitInside } from './limit-handle.ts'

export interface JobInfo {
  readonly id: string
  readonly kind: string
  readonly queue: string
  readonly priority: number
  /** 1 at the first run. */
  readonly attempt: number
  readonly maxAttempts: number
  /** How often a process died while running it. */
  readonly crashes: number
  /** Milliseconds since the epoch, by the database's clock. */
  readonly enqueuedAt: number
  readonly tags: readonly string[]
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly orderKey: string | null
  /**
   * The fence of this attempt: higher at every claim. Hand it to outside systems that can refuse an older one.
   */
  readonly token: number
}

export interface InstanceInfo {
  readonly id: string
  readonly label: string | null
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Kept with the attempt, up to 64 KiB of it; fields are anything JSON can keep. */
export interface JobLog {
  (message: string, fields?: Readonly<Record<string, unknown>>): void
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** As `mill.enqueue`, and `withCompletion`. */
export interface EnqueueInside {
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

export interface EnqueueManyInside {
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
  /** A transaction of yours: the job exists when you commit it. */
  readonly tx?: unknown
  /**
   * Written in the transaction that makes this job done, and not at all when this attempt ends any other way. Its id is the one that it will have,
   * unless somebody holds its dedupe key by then.
   */
  readonly withCompletion?: boolean
}

interface WithCompletion extends EnqueueOptions {
  readonly withCompletion: true
}

/** `Tx` and `Result` type `complete`: `JobContext<Order, PoolClient, Receipt>`. */
export interface JobContext<Payload = unknown, Tx = unknown, Result = unknown> {
  readonly payload: Payload
  readonly job: JobInfo
  /** Short for `job.attempt`. */
  readonly attempt: number
  /**
   * Fires when the handler should stop. Its reason is an `Interruption` with `why`: cancelled, timeout, shutdown or lease-lost. Pass it on to whatever
   * you call; what then throws ends the attempt as it should.
   */
  readonly signal: AbortSignal
  /** Notes how far it is: a percentage, or anything JSON can keep. Stored within a second; the last one counts. */
  readonly progress: (value: unknown) => void
  readonly log: JobLog
  /** Milliseconds since the epoch, by the clock of this process: in tests the one that the test moves. */
  readonly now: () => number
  readonly instance: InstanceInfo
  readonly enqueue: EnqueueInside
  readonly enqueueMany: EnqueueManyInside
  /** Budgets that all processes share: `await limit.acquire('smtp')`. */
  readonly limit: LimitInside
  /**
   * The error text of the attempt before this one; null at the first attempt. Read from the store when it is called, so that jobs that never ask
   * pay nothing: `if ((await previousError())?.includes('quota')) …`
   */
  readonly previousError: () => Promise<string | null>
  /** Ends the attempt here, by throwing: due again after a while, and the attempt is not spent. `return snooze('1m')` tells the compiler too. */
  readonly snooze: (time: Duration) => never
  /**
   * Writes this job as done in your own transaction, together with whatever else you do there; jobs enqueued `withCompletion` too. Throws
   * LEASE_LOST when the attempt no longer holds its lease. If you roll back, the attempt counts as failed.
   */
  readonly complete: (tx: Tx, result?: Result) => Promise<void>
}

/** What `onDead` of a kind is given: as a handler of its own, plus what died. */
export interface DeadContext<Payload = unknown> extends Omit<JobContext<Payload>, 'payload' | 'complete'> {
  /** As it was stored, not held against the schema: not fitting may be what it died of. */
  readonly payload: Payload
  /** The job that died; `job` is the one that runs this. */
  readonly dead: {
    readonly id: string
    readonly kind: string
    readonly queue: string
    readonly attempt: number
    readonly crashes: number
    readonly tags: readonly string[]
    readonly metadata: Readonly<Record<string, unknown>> | null
  }
  /** The error of its last attempt, with its causes. */
  readonly error: string
}
