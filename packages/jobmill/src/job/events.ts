/** What happened to jobs, queues and the process. Events flow outward only: no listener can change what happens. */
import type { InterruptionCause } from './interruption.ts'
import type { TraceIds } from './tracing.ts'

export interface JobRef {
  readonly id: string
  readonly kind: string
  readonly queue: string
}

export interface AttemptRef extends JobRef {
  readonly attempt: number
  readonly maxAttempts: number
  /** Of the span that it runs in; only when jobs are traced. */
  readonly trace?: TraceIds
}

/** By type. `at` is the wall clock of this process. */
export interface EventTable {
  enqueued: JobRef & { readonly outcome: 'enqueued' | 'replaced' }
  /** A kind that this process has no job for, and that reads like one that it has: perhaps a typo. Told once for each. */
  'kind-unknown': { readonly kind: string; readonly near: string }
  /** Nothing was written: the job with this id holds the dedupe key. */
  duplicate: JobRef
  /** `waitedMs` is how long it was ready before it was claimed, by the database's clock. */
  started: AttemptRef & { readonly crashes: number; readonly waitedMs: number }
  progress: AttemptRef & { readonly value: unknown }
  /** Done. `totalMs` is the time since it was enqueued, waits and earlier attempts included. */
  finished: AttemptRef & { readonly ranMs: number; readonly totalMs: number; readonly notKept: string | null }
  /** Failed, and due again. `stack` is where, with the stacks of its causes; left out when no error with a stack was thrown. */
  retried: AttemptRef & {
    readonly ranMs: number
    readonly delayMs: number
    readonly error: string
    readonly stack?: string
  }
  snoozed: AttemptRef & { readonly ranMs: number; readonly delayMs: number }
  throttled: AttemptRef & { readonly ranMs: number; readonly retryAfterMs: number | null }
  /** An attempt took too long; `retried` or `dead` follows. */
  'timed-out': AttemptRef & { readonly ranMs: number }
  /** Without `ranMs`, it did not run here. */
  cancelled: AttemptRef & { readonly ranMs?: number; readonly reason: string }
  /** Without `ranMs`, it did not run here: the reaper found it. */
  dead: AttemptRef & { readonly ranMs?: number; readonly error: string; readonly stack?: string }
  /** Stopped by a shutdown or a lost lease, and handed back with the attempt refunded. Without `ranMs`, its handler goes on. */
  interrupted: AttemptRef & { readonly ranMs?: number; readonly why: InterruptionCause }
  /** Claimed, never started, and handed back. */
  released: AttemptRef
  /** The write of an attempt was refused: somebody else has the job. Counted once for each attempt. */
  'lease-lost': AttemptRef
  /** Was asked to stop a while ago and still runs; its slot stays taken. */
  stuck: AttemptRef & { readonly why: InterruptionCause; readonly sinceMs: number }
  'queue-cooling': { readonly queue: string; readonly forMs: number }
  'queue-resumed': { readonly queue: string }
  'queue-changed': { readonly queue: string }
  /** What code says of a queue, limit or schedule is not what counts: an operator overrode it, or another release started later. Emitted at a start. */
  'settings-differ': {
    readonly what: 'queue' | 'limit' | 'schedule'
    readonly name: string
    readonly field: string
    readonly code: unknown
    readonly stored: unknown
    readonly isInCode: boolean
    /** Null when nobody overrode it. */
    readonly override: { readonly by: string | null; readonly at: number | null } | null
  }
  /** Nothing is granted from a limit for a while: an upstream has said so. */
  'limit-drained': {
    readonly limit: string
    /** Null when it is not one that counts for each key by itself. */
    readonly key: string | null
    readonly forMs: number
  }
  /** A planned instant of a schedule was served. `skipped`: the job with this id, of an earlier one, has not ended yet. */
  'schedule-fired': {
    readonly schedule: string
    readonly plannedAt: number
    readonly id: string
    readonly outcome: 'enqueued' | 'skipped'
  }
  /** Instants of a schedule that passed without being served, as its policy says. */
  'schedule-missed': { readonly schedule: string; readonly missed: number }
  /** A schedule cannot be served; the others are. */
  'schedule-failing': { readonly schedule: string; readonly error: unknown }
  /** Jobs of processes that died were taken back. */
  reaped: {
    readonly instances: readonly string[]
    readonly jobs: readonly (JobRef & { readonly state: string })[]
  }
  /** The database believed that this instance ran jobs which it does not: their claim's answer was lost. They were handed back. */
  'leases-found': { readonly jobs: number }
  /**
   * This instance could not renew in time, or was found dead: it has nothing until it is back. `blocked`: not because the database was away, but because
   * this process stood still.
   */
  'instance-lost': { readonly instance: string; readonly jobs: number; readonly blocked: boolean }
  'instance-back': { readonly instance: string }
  /** A call to the database failed and is made again. Told when a part begins to fail, and not for every try. */
  'store-failing': { readonly part: string; readonly error: unknown }
  'store-back': { readonly part: string }
  'duty-started': {
    readonly duty: string
    readonly everyMs: number | null
    readonly deadlineMs: number | null
    readonly forAll: boolean
  }
  'duty-stopped': { readonly duty: string; readonly passes: number }
  /** A pass that did something. */
  'duty-done': {
    readonly duty: string
    readonly counts: Readonly<Record<string, number>>
    readonly tookMs: number
  }
  /** A pass failed and is made again. Told when that begins, and not for every try. */
  'duty-failing': { readonly duty: string; readonly error: unknown; readonly failures: number }
  'duty-back': { readonly duty: string; readonly failures: number }
  /** This instance does a duty for the whole cluster from now on, and no longer. */
  leading: { readonly duty: string }
  led: { readonly duty: string }
  /** The workers of queues were split anew over the instances. */
  rebalanced: { readonly changed: number }
  'mill-started': {
    readonly instance: string
    readonly queues: readonly string[]
    readonly kinds: readonly string[]
  }
  'mill-stopping': { readonly running: number; readonly graceMs: number }
  /** The grace period of a stop was over while jobs ran. They were told to end, and are returned to the queue. `isAbandoned`: its handler goes on. */
  'grace-expired': { readonly jobs: readonly (AttemptRef & { readonly isAbandoned: boolean })[] }
  'mill-stopped': {
    readonly finished: number
    readonly handedBack: number
    readonly interrupted: number
    readonly tookMs: number
  }
}

export type EventType = keyof EventTable
export type MillEvent<Type extends EventType = EventType> = {
  [T in Type]: Readonly<EventTable[T]> & { readonly type: T; readonly at: number }
}[Type]

/** Tells an event. Costs next to nothing when nobody listens, and never throws. */
export type Emit = <Type extends EventType>(type: Type, event: EventTable[Type]) => void
