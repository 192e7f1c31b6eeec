/**
 * Decides what happens after an attempt, and builds the item to write. After the write, emits the events of
 * the state that the database reports, not of the requested one.
 */
import { decide, type Decision, done, type Ended } from '../../job/attempt/decide.ts'
import { JobmillError } from '../../job/errors.ts'
import type { NewJob } from '../../job/enqueue/new-job.ts'
import { ownFrame } from '../../job/grouping/frame.ts'
import { onDeadJob } from '../../job/attempt/on-dead.ts'
import type { QueueSettings } from '../../job/queue/queue-settings.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Lease } from '../../store/types/claim.ts'
import type { Finish, Finished } from '../../store/types/finish.ts'
import type { Attempt } from '../attempt.ts'
import type { Handler } from '../handler.ts'
import { jobInfo } from '../make-context.ts'
import { stackOf } from '../stack-of.ts'
import type { Emit } from '../../job/events.ts'

export interface DecideTools {
  readonly platform: Platform
  readonly settings: (queue: string) => QueueSettings
  /** The version of the application, from JOBMILL_WORKER_VERSION. */
  readonly version: string | null
}

/** The common case needs no retry policy: it is decided without `retryIf` and random numbers. */
export function decisionFor(ended: Ended, attempt: Attempt, handler: Handler, tools: DecideTools): Decision {
  if (ended.how === 'returned') return done(ended, tools.settings(attempt.lease.queue))
  logStack(ended, attempt, tools.platform.now())
  return decide(namingProcess(ended, tools), circumstances(ended, attempt, handler, tools))
}

/** The stored error says what failed, and the attempt log says where. */
function logStack(ended: Ended, { log }: Attempt, at: number): void {
  // Dead is thrown on purpose, so its reason is enough.
  const stack = ended.how === 'failed-permanently' ? undefined : stackOf(ended)
  if (stack === undefined) return
  const frame = ownFrame(stack)
  const fields = frame === null ? { stack } : { stack, frame }
  log.add({ at, level: 'error', message: 'the handler failed', fields })
}

/** Another release may accept this payload, so the error names the version that did not. */
function namingProcess(ended: Ended, { version }: DecideTools): Ended {
  if (ended.how !== 'unfit') return ended
  const what = `the payload does not match the schema of the process that claimed the job (version ${version ?? 'not set'})`
  const fix = 'Deploy the release that enqueued it to all processes, or fix the schema or the payload'
  return { how: 'unfit', error: new JobmillError('PAYLOAD_INVALID', what, { fix, cause: ended.error }) }
}

function circumstances(
  ended: Ended,
  { lease, waitedMs, countsAs }: Attempt,
  handler: Handler,
  tools: DecideTools,
) {
  return {
    ageMs: lease.readyAt - lease.enqueuedAt + waitedMs,
    attempt: countsAs,
    maxAttempts: lease.maxAttempts,
    backoff: handler.backoff,
    mayRetry: mayRetry(ended, lease, handler),
    queue: tools.settings(lease.queue),
    random: tools.platform.random(),
  }
}

function mayRetry(ended: Ended, lease: Lease, { retryIf }: Handler): boolean {
  if (retryIf === undefined || !('error' in ended)) return true
  try {
    const answer: unknown = retryIf(ended.error, jobInfo(lease))
    if (!(answer instanceof Promise)) return answer !== false
    // It cannot be awaited, and its rejection must not end the process.
    answer.catch(() => {})
    return true
  } catch {
    // A failing `retryIf` must not kill a job.
    return true
  }
}

export function followUps(attempt: Attempt, decision: Decision, handler: Handler): readonly NewJob[] {
  const { to } = decision.transition
  // The transaction of the user already wrote the follow-ups.
  if (to === 'done' && !attempt.completedInTx) return attempt.followUps
  if (to !== 'dead' || !handler.followsDeaths) return []
  const { id, kind, queue, orderKey, token } = attempt.lease
  return [onDeadJob({ id, kind, queue, orderKey, error: decision.error ?? '', at: token })]
}

export function finishOf(
  attempt: Attempt,
  decision: Decision,
  ranMs: number,
  jobs: readonly NewJob[],
): Finish {
  // Lists every field, even absent ones, so that all items of a write have one hidden class.
  return {
    id: attempt.lease.id,
    token: attempt.lease.token,
    outcome: decision.outcome,
    transition: decision.transition,
    error: decision.error,
    ranMs,
    log: attempt.logText,
    cool: decision.cool,
    followUps: jobs.length === 0 ? undefined : jobs,
  }
}

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
