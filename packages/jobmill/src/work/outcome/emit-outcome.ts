/**
 * Emits the events after an outcome is written. They follow the state that the database reports, not the
 * requested one.
 */
import type { Decision, Ended } from '../../job/attempt/decide.ts'
import type { Emit } from '../../job/events.ts'
import type { Finished } from '../../store/types/finish.ts'
import type { Attempt } from '../attempt.ts'
import { stackOf } from '../stack-of.ts'

export interface WrittenOutcome {
  readonly decision: Decision
  readonly ended: Ended
  readonly finished: Finished
  readonly ranMs: number
  /** The time since the job was enqueued. */
  readonly totalMs: number
  /** The reason of the cancel. */
  readonly reason: string
}

export function emitOutcome(emit: Emit, attempt: Attempt, outcome: WrittenOutcome): void {
  const { decision, ended, finished, ranMs, totalMs } = outcome
  if (!finished.accepted) return emit('lease-lost', attempt.ref)
  const error = decision.error ?? ''
  if (decision.outcome === 'timed-out') emit('timed-out', { ...attempt.ref, ranMs })
  switch (finished.state) {
    case 'done': {
      const notKept = ended.how === 'returned' ? (ended.notKept ?? null) : null
      // Named fields instead of a spread, because this runs for every job.
      const { id, kind, queue, attempt: number, maxAttempts } = attempt.lease
      const event = { id, kind, queue, attempt: number, maxAttempts, ranMs, totalMs, notKept }
      emit('finished', attempt.trace === null ? event : { ...event, trace: attempt.trace })
      if (attempt.memos.length > 0) emitUnused(emit, attempt)
      return
    }
    case 'dead':
      return emit('dead', { ...attempt.ref, ranMs, error, ...stackIn(ended) })
    case 'cancelled':
      return emit('cancelled', { ...attempt.ref, ranMs, reason: outcome.reason })
    default:
      emitContinued(emit, attempt, outcome)
  }
}

/** Reports steps that earlier attempts recorded and this attempt did not call. */
function emitUnused(emit: Emit, { memos, calledSteps, ref }: Attempt): void {
  const steps = memos.flatMap(({ name, isDone }) => (isDone && !calledSteps.has(name) ? name : []))
  if (steps.length > 0) emit('steps-unused', { ...ref, steps: steps.slice(0, MOST_UNUSED) })
}

const MOST_UNUSED = 10

function emitContinued(
  emit: Emit,
  { ref, interruption }: Attempt,
  { decision, ended, ranMs }: WrittenOutcome,
): void {
  const { transition, error = '' } = decision
  const delayMs = transition.to === 'scheduled' ? transition.delayMs : 0
  if (ended.how === 'parked') emit('parked', { ...ref, ranMs })
  else if (ended.how === 'snoozed') emit('snoozed', { ...ref, ranMs, delayMs })
  else if (ended.how === 'throttled')
    emit('throttled', { ...ref, ranMs, retryAfterMs: ended.thrown.retryAfterMs })
  else if (decision.outcome === 'interrupted')
    emit('interrupted', { ...ref, ranMs, why: interruption?.why ?? 'shutdown' })
  else emit('retried', { ...ref, ranMs, delayMs, error, ...stackIn(ended) })
}

function stackIn(ended: Ended): { readonly stack?: string } {
  const stack = stackOf(ended)
  return stack === undefined ? {} : { stack }
}
