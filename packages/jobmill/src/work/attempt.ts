/** One attempt in this process: its lease, its abort signal, and the data that is not written yet. */
import { Interruption, type InterruptionCause } from '../job/attempt/interruption.ts'
import type { NewJob } from '../job/enqueue/new-job.ts'
import type { AttemptRef } from '../job/events.ts'
import type { EventSchemas } from '../job/kind/event-schemas.ts'
import type { AttemptTrace, TraceIds } from '../job/tracing.ts'
import type { Step } from '../job/step/step.ts'
import type { Lease } from '../store/types/claim.ts'
import type { Memo } from '../store/types/step.ts'
import { type LogBuffer, logBuffer } from './log-buffer.ts'

const NONE: readonly never[] = []
const NO_NAMES: ReadonlySet<string> = new Set()

/** A class, because there is one for every job: parts that few attempts need are created lazily. */
export class Attempt {
  readonly lease: Lease
  /** On the monotonic clock. */
  readonly startedAt: number
  /** How long the job was ready before it started. */
  readonly waitedMs: number
  /** Why it was asked to stop. The first reason is kept. */
  interruption: Interruption | null = null
  /** When it was asked to stop, on the monotonic clock. */
  interruptedAt: number | null = null
  /** Progress that is not written yet, as JSON text. */
  progress: string | undefined = undefined
  /** `complete` was called: the transaction of the user decides whether the job is done. */
  completedInTx = false
  /** The TX_STALE that `complete` threw. The attempt is not spent if it fails with this error. */
  stale: Error | null = null
  /** A call to `complete` is in progress. */
  isCompleting = false
  /** The result passed to `complete`, as JSON text. */
  completedWith: string | null | undefined = undefined
  /** The number of this attempt, counted from the last recorded step. */
  countsAs: number
  /** The handler waits in a step, so the attempt ends although its handler never does. */
  parked = false
  /** Ends the attempt when it is parked. Set while the handler runs. */
  whenParked: (() => void) | null = null
  /** The code of the handler has ended, even if middleware is still running. */
  isSettled = false
  /** Stops what the steps of the attempt left behind. */
  whenEnded: (() => void) | null = null
  /** The steps that earlier attempts recorded. */
  memos: readonly Memo[] = NONE
  /** The names of the steps that this attempt has called. */
  calledSteps: ReadonlySet<string> = NO_NAMES
  /** The schemas of its events, if its kind declares them. */
  events: EventSchemas | undefined = undefined
  /** Creates `step`. */
  stepFor: ((attempt: Attempt) => Step) | null = null
  /** The handler has ended and can write nothing more for this attempt. */
  ended = false
  /**
   * Returned to the queue while its handler is still running: the worker stays busy and the outcome is
   * ignored.
   */
  abandoned = false
  /** Traces steps, if the attempt is traced. */
  tracing: AttemptTrace | null = null
  /** Trace ids for events, if the attempt is traced. */
  trace: TraceIds | null = null
  /** Its index in the list of attempts. */
  place = -1
  #controller: AbortController | null = null
  #log: LogBuffer | null = null
  #followUps: NewJob[] | null = null
  #step: Step | null = null

  constructor(lease: Lease, startedAt: number, waitedMs: number) {
    this.lease = lease
    this.startedAt = startedAt
    this.waitedMs = waitedMs
    this.countsAs = lease.attempt
  }

  get log(): LogBuffer {
    return (this.#log ??= logBuffer())
  }

  /** Jobs that are enqueued with its completion. */
  get followUps(): readonly NewJob[] {
    return this.#followUps ?? NONE
  }

  follow(jobs: readonly NewJob[]): void {
    const all = (this.#followUps ??= [])
    for (const job of jobs) all.push(job)
  }

  /** Created lazily: most handlers call no step. */
  get step(): Step {
    const { stepFor } = this
    if (stepFor === null) throw new Error('the attempt has no context yet')
    return (this.#step ??= stepFor(this))
  }

  /** Undefined when nothing was logged. */
  get logText(): string | undefined {
    return this.#log?.text()
  }

  /** How events refer to it. */
  get ref(): AttemptRef {
    const { id, kind, queue, attempt, maxAttempts } = this.lease
    const { trace } = this
    return trace === null
      ? { id, kind, queue, attempt, maxAttempts }
      : { id, kind, queue, attempt, maxAttempts, trace }
  }

  /**
   * Fires when it is asked to stop. Created lazily: in many Node releases it costs more than the rest of a
   * short job.
   */
  get signal(): AbortSignal {
    if (this.#controller !== null) return this.#controller.signal
    this.#controller = new AbortController()
    if (this.interruption !== null) this.#controller.abort(this.interruption)
    return this.#controller.signal
  }

  /** Ends this attempt. Its handler runs again when its wait is over. */
  park(now: number): void {
    this.parked = true
    this.interrupt(new Interruption('parked', MESSAGE.parked), now)
    this.whenParked?.()
  }

  interrupt(interruption: Interruption, now: number): void {
    this.interruption = interruption
    this.interruptedAt = now
    this.#controller?.abort(interruption)
  }
}

export function newAttempt(lease: Lease, startedAt: number, waitedMs = lease.waitedMs): Attempt {
  return new Attempt(lease, startedAt, waitedMs)
}

const MESSAGE: Readonly<Record<InterruptionCause, string>> = {
  cancelled: 'cancelled',
  timeout: 'timed out',
  shutdown: 'this process is shutting down',
  'lease-lost': 'the lease was lost: another process may run the job',
  parked: 'the job is parked: its handler runs again when its wait is over',
}

/** Fires the signal once. Returns whether this call fired it. */
export function interrupt(
  attempt: Attempt,
  why: InterruptionCause,
  now: number,
  { detail = MESSAGE[why], blocked = false }: { readonly detail?: string; readonly blocked?: boolean } = {},
): boolean {
  if (attempt.ended || attempt.interruption !== null) return false
  attempt.interrupt(new Interruption(why, detail, { blocked }), now)
  return true
}
