/** One attempt while it lives in this process: its lease, its signal, and what is still to be written of it. */
import { Interruption, type InterruptionCause } from '../job/interruption.ts'
import type { NewJob } from '../job/new-job.ts'
import type { AttemptRef } from '../job/events.ts'
import type { Lease } from '../store/claim.ts'
import type { LogBuffer } from './log-buffer.ts'

export interface Attempt {
  readonly lease: Lease
  readonly ref: AttemptRef
  readonly controller: AbortController
  /** On the monotonic clock. */
  readonly startedAt: number
  readonly log: LogBuffer
  /** Jobs that are enqueued with its completion. */
  readonly followUps: NewJob[]
  /** Why it was asked to stop; the first reason stands. */
  interruption: Interruption | null
  /** Why it was asked to stop, and when on the monotonic clock. */
  interruptedAt: number | null
  /** The progress that was not written yet, as JSON text. */
  progress: string | undefined
  /** `complete` was called: whether the job is done is for the user's transaction to say. */
  completedInTx: boolean
  /** The handler has ended: nothing more can be written on behalf of this attempt by it. */
  ended: boolean
  /** Handed back although its handler goes on: the slot stays taken, the outcome is nobody's concern. */
  abandoned: boolean
}

export function newAttempt(lease: Lease, startedAt: number, log: LogBuffer): Attempt {
  const { id, kind, queue, attempt, maxAttempts } = lease
  return {
    lease,
    ref: { id, kind, queue, attempt, maxAttempts },
    controller: new AbortController(),
    startedAt,
    log,
    followUps: [],
    interruption: null,
    interruptedAt: null,
    progress: undefined,
    completedInTx: false,
    ended: false,
    abandoned: false,
  }
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
  attempt.interruption = new Interruption(why, detail, { blocked })
  attempt.interruptedAt = now
  attempt.controller.abort(attempt.interruption)
  return true
}
