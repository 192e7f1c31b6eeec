/** One attempt while it lives in this process: its lease, its signal, and what is still to be written of it. */
import { Interruption, type InterruptionCause } from '../job/interruption.ts'
import type { NewJob } from '../job/new-job.ts'
import type { AttemptRef } from '../job/events.ts'
import type { TraceIds } from '../job/tracing.ts'
import type { Lease } from '../store/claim.ts'
import { type LogBuffer, logBuffer } from './log-buffer.ts'

const NONE: readonly never[] = []

/** A class, because every job makes one: what few attempts need is made when it is asked for. */
export class Attempt {
  readonly lease: Lease
  /** On the monotonic clock. */
  readonly startedAt: number
  /** How long it was ready before that. */
  readonly waitedMs: number
  /** Why it was asked to stop; the first reason stands. */
  interruption: Interruption | null = null
  /** When that was, on the monotonic clock. */
  interruptedAt: number | null = null
  /** The progress that was not written yet, as JSON text. */
  progress: string | undefined = undefined
  /** `complete` was called: whether the job is done is for the user's transaction to say. */
  completedInTx = false
  /** A call of `complete` has not been answered yet. */
  isCompleting = false
  /** The result that `complete` was called with, as JSON text. */
  completedWith: string | null | undefined = undefined
  /** The handler has ended: nothing more can be written on behalf of this attempt by it. */
  ended = false
  /** Handed back although its handler goes on: the slot stays taken, the outcome is nobody's concern. */
  abandoned = false
  /** What events of it name, when it is traced. */
  trace: TraceIds | null = null
  /** Where it stands among the attempts of this process. */
  place = -1
  #controller: AbortController | null = null
  #log: LogBuffer | null = null
  #followUps: NewJob[] | null = null

  constructor(lease: Lease, startedAt: number, waitedMs: number) {
    this.lease = lease
    this.startedAt = startedAt
    this.waitedMs = waitedMs
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

  /** Undefined when nothing was logged. */
  get logText(): string | undefined {
    return this.#log?.text()
  }

  /** How events name it. */
  get ref(): AttemptRef {
    const { id, kind, queue, attempt, maxAttempts } = this.lease
    const { trace } = this
    return trace === null
      ? { id, kind, queue, attempt, maxAttempts }
      : { id, kind, queue, attempt, maxAttempts, trace }
  }

  /** Fires when it is asked to stop. Not made before: in many releases of Node it costs more than all the rest of a short job. */
  get signal(): AbortSignal {
    if (this.#controller !== null) return this.#controller.signal
    this.#controller = new AbortController()
    if (this.interruption !== null) this.#controller.abort(this.interruption)
    return this.#controller.signal
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
  'lease-lost': 'the lease was lost: another process may have the job',
}

/** Fires the signal, once. Returns whether this was the call that did. */
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
