/**
 * Lifecycle events of jobs, queues and the process. Listeners only observe: they cannot change the outcome.
 */
import type { InterruptionCause } from './attempt/interruption.ts'
import type { Overridable, Stamp } from './queue/overrides.ts'
import type { QueueSettings } from './queue/queue-settings.ts'
import type { TraceIds } from './tracing.ts'

export interface JobRef {
  readonly id: string
  readonly kind: string
  readonly queue: string
}

export interface AttemptRef extends JobRef {
  readonly attempt: number
  readonly maxAttempts: number
  /** The span of the attempt; only when tracing is enabled. */
  readonly trace?: TraceIds
}

/** An option with its value in code and its stored value, both in the notation of options. */
export interface ConfigDrift {
  readonly what: Overridable
  readonly name: string
  readonly field: string
  /**
   * The value in code (or the default if code does not set it), and the stored value that applies. In an
   * event, both are null for a payload, which may contain secrets.
   */
  readonly code: unknown
  readonly stored: unknown
  /** Whether code sets this option. */
  readonly isInCode: boolean
  /** Who overrode it, and when. Null if code of another process applies. */
  readonly override: Stamp | null
  /**
   * The version of the stored schedule, if it is higher than the version in code; else null. If there is no
   * override either, the stored value comes from a process with different code that started later.
   */
  readonly higherVersion: number | null
}

/** The fields of each event type. `at` is the wall clock of this process. */
export interface EventTable {
  enqueued: JobRef & { readonly outcome: 'enqueued' | 'replaced' }
  /**
   * The kind is not defined in this process but resembles one that is: perhaps a typo. Emitted once per kind.
   */
  'kind-unknown': { readonly kind: string; readonly near: string }
  /**
   * A job was enqueued to a queue that the options of this process do not name, but that resembles one:
   * perhaps a typo. Emitted once per queue.
   */
  'queue-unknown': { readonly queue: string; readonly near: string }
  /** Nothing was written: the job with this id holds the dedupe key. */
  duplicate: JobRef
  /**
   * `waitedMs` is the queue latency: from ready to claimed, by the database clock, plus the time in the
   * prefetch buffer.
   */
  started: AttemptRef & { readonly crashes: number; readonly waitedMs: number }
  progress: AttemptRef & { readonly value: unknown }
  /** The job is done. `totalMs` is the time since it was enqueued, including waits and earlier attempts. */
  finished: AttemptRef & { readonly ranMs: number; readonly totalMs: number; readonly notKept: string | null }
  /**
   * The attempt failed and will be retried. `stack` contains the stack traces of the error and its causes;
   * omitted when the thrown value has none.
   */
  retried: AttemptRef & {
    readonly ranMs: number
    readonly delayMs: number
    readonly error: string
    readonly stack?: string
  }
  /** The result of a `step.run` was recorded. */
  'step-recorded': AttemptRef & { readonly step: string; readonly ranMs: number }
  /** The function of a `step.run` threw, or its result could not be recorded. */
  'step-failed': AttemptRef & { readonly step: string; readonly ranMs: number; readonly error: string }
  /** The job is done, but its last attempt did not call these recorded steps. They may have been renamed. */
  'steps-unused': AttemptRef & { readonly steps: readonly string[] }
  /** The attempt ended because its handler waits in a step. The job occupies no worker while it waits. */
  parked: AttemptRef & { readonly ranMs: number }
  snoozed: AttemptRef & { readonly ranMs: number; readonly delayMs: number }
  throttled: AttemptRef & { readonly ranMs: number; readonly retryAfterMs: number | null }
  /** A handler threw after its timeout; `retried`, `dead` or `cancelled` follows. */
  'timed-out': AttemptRef & { readonly ranMs: number }
  /** `ranMs` is omitted when the job was not running here. */
  cancelled: AttemptRef & { readonly ranMs?: number; readonly reason: string }
  /** `ranMs` is omitted when the reaper marked the job dead. */
  dead: AttemptRef & { readonly ranMs?: number; readonly error: string; readonly stack?: string }
  /**
   * Stopped by a shutdown or a lost lease, and returned to the queue with the attempt refunded. `ranMs` is
   * omitted while the handler is still running.
   */
  interrupted: AttemptRef & { readonly ranMs?: number; readonly why: InterruptionCause }
  /** Claimed but never started, and returned to the queue. */
  released: AttemptRef
  /** The database refused the outcome of the attempt, because the attempt no longer holds the lease. */
  'lease-lost': AttemptRef
  /** The handler was asked to stop a while ago and still runs; it keeps its worker busy. */
  stuck: AttemptRef & { readonly why: InterruptionCause; readonly sinceMs: number }
  'queue-cooling': { readonly queue: string; readonly forMs: number }
  'queue-resumed': { readonly queue: string }
  /** Settings of a queue changed. `before` and `after` have the settings that differ. */
  'queue-changed': {
    readonly queue: string
    readonly before?: Partial<QueueSettings>
    readonly after?: Partial<QueueSettings>
  }
  /**
   * The value in code of a queue, limit or schedule is not in effect: an operator overrode it, another
   * release started later, or a higher version of the schedule is stored. Emitted at start.
   */
  'settings-differ': ConfigDrift
  /** A limit grants nothing for a while, because an upstream refused calls. */
  'limit-drained': {
    readonly limit: string
    /** Null unless the limit counts each key separately. */
    readonly key: string | null
    readonly forMs: number
  }
  /**
   * A tick of a schedule was served. `skipped`: the job with this id, of an earlier tick, has not ended yet.
   */
  'schedule-fired': {
    readonly schedule: string
    readonly plannedAt: number
    readonly id: string
    readonly outcome: 'enqueued' | 'skipped'
  }
  /** Ticks that passed without being served, according to the `missed` policy of the schedule. */
  'schedule-missed': { readonly schedule: string; readonly missed: number }
  /** A schedule cannot be served; the other schedules are not affected. */
  'schedule-failing': { readonly schedule: string; readonly error: unknown }
  /** The reaper returned the jobs of crashed processes to their queues, or marked them dead. */
  reaped: {
    readonly instances: readonly string[]
    readonly jobs: readonly (JobRef & { readonly state: string })[]
  }
  /**
   * The database had leases for jobs that this instance does not run, because the answer to a claim was lost.
   * They were returned to the queue.
   */
  'leases-found': { readonly jobs: number }
  /**
   * This instance could not renew its lease in time and holds no jobs until it registers again. `blocked`:
   * the event loop was blocked or the process was stopped, rather than the database unreachable.
   */
  'instance-lost': { readonly instance: string; readonly jobs: number; readonly blocked: boolean }
  'instance-back': { readonly instance: string }
  /**
   * Calls to the database fail. They are retried, except during shutdown. Emitted when a component starts to
   * fail, not for every retry.
   */
  'store-failing': { readonly part: string; readonly error: unknown }
  'store-back': { readonly part: string }
  'duty-started': {
    readonly duty: string
    readonly everyMs: number | null
    readonly deadlineMs: number | null
    readonly forAll: boolean
  }
  'duty-stopped': { readonly duty: string; readonly passes: number }
  /** A pass that changed something. */
  'duty-done': {
    readonly duty: string
    readonly counts: Readonly<Record<string, number>>
    readonly tookMs: number
  }
  /** A pass failed and will be retried. Emitted for the first failure only. */
  'duty-failing': { readonly duty: string; readonly error: unknown; readonly failures: number }
  'duty-back': { readonly duty: string; readonly failures: number }
  /** This instance now performs a duty for the whole cluster (`leading`), or no longer does (`led`). */
  leading: { readonly duty: string }
  led: { readonly duty: string }
  /** The workers of queues were redistributed over the instances. */
  rebalanced: { readonly changed: number }
  'mill-started': {
    readonly instance: string
    /** The label and the version of this process; null where it has none. */
    readonly label: string | null
    readonly version: string | null
    readonly queues: readonly string[]
    readonly kinds: readonly string[]
  }
  /** An operator (`by`) made this process quiet: it claims no more jobs. No claim is in flight. */
  'mill-quiet': { readonly instance: string; readonly by: string; readonly running: number }
  /** This process claims jobs again. */
  'mill-resumed': { readonly instance: string; readonly running: number }
  /**
   * An operator asked this process to stop. `endsProcess`: `stopOnSignals` ends the process. Otherwise only
   * the mill stops, and the process keeps running.
   */
  'stop-requested': { readonly instance: string; readonly by: string; readonly endsProcess: boolean }
  'mill-stopping': { readonly running: number; readonly graceMs: number }
  /**
   * The grace period of a stop ended while jobs were running. Their signals were aborted, and jobs that do
   * not finish return to the queue. `isAbandoned`: the handler is still running.
   */
  'grace-expired': { readonly jobs: readonly (AttemptRef & { readonly isAbandoned: boolean })[] }
  'mill-stopped': {
    readonly finished: number
    readonly returned: number
    readonly interrupted: number
    readonly tookMs: number
  }
}

export type EventType = keyof EventTable
export type MillEvent<Type extends EventType = EventType> = {
  [T in Type]: Readonly<EventTable[T]> & { readonly type: T; readonly at: number }
}[Type]

/** Emits an event. Costs almost nothing without listeners, and never throws. */
export type Emit = <Type extends EventType>(type: Type, event: EventTable[Type]) => void
