/** Runs one job from its lease to its written outcome: run, decide, finish, emit. */
import type { Decision, Ended } from '../job/attempt/decide.ts'
import { JobmillError } from '../job/errors.ts'
import type { Emit, EventTable } from '../job/events.ts'
import type { AttemptTrace, Tracing } from '../job/tracing.ts'
import type { Lease } from '../store/types/claim.ts'
import type { Finish, Finished } from '../store/types/finish.ts'
import { type Attempt, newAttempt } from './attempt.ts'
import type { Attempts } from './attempts.ts'
import type { Finisher } from './outcome/finisher.ts'
import type { Handler } from './handler.ts'
import {
  type DecideTools,
  decisionFor,
  emitOutcome,
  finishOf,
  followUps,
  type WrittenOutcome,
} from './outcome/outcome-of.ts'
import type { AsFailed } from './outcome/plainer.ts'
import type { RunAttempt, RunTools } from './run-attempt.ts'

export interface RunJobTools extends RunTools, DecideTools {
  readonly attempts: Attempts
  readonly runAttempt: RunAttempt
  readonly handler: (kind: string) => Handler
  readonly finish: Finisher['put']
  /** Writes the outcome of a job that its handler completed in a transaction, which may still be open. */
  readonly finishAfterTx: Finisher['put']
  readonly emit: Emit
  readonly tracing: Tracing | null
  /** Why a job was cancelled, from the database. */
  readonly cancelReason: (id: string) => Promise<string>
  /** The outcome is written. */
  readonly written: (attempt: Attempt, item: Finish, finished: Finished) => void
  /** An internal failure that is not the fault of a handler. */
  readonly failing: (error: unknown) => void
}

/**
 * `waitedMs` is how long the job was ready, including its time in the prefetch buffer. `now` is on the
 * monotonic clock.
 */
export function runJob(lease: Lease, tools: RunJobTools, waitedMs: number, now: number): void {
  const attempt = newAttempt(lease, now, waitedMs)
  tools.attempts.add(attempt)
  try {
    startRun(attempt, tools)
  } catch (error) {
    tools.attempts.end(attempt)
    tools.attempts.forget(attempt)
    tools.failing(error)
  }
}

function startRun(attempt: Attempt, tools: RunJobTools): void {
  const { lease, waitedMs } = attempt
  const handler = tools.handler(lease.kind)
  const trace = tools.tracing?.attempt({ ...lease, waitedMs }, tools.platform.now())
  attempt.trace = trace?.ids ?? null
  attempt.tracing = trace ?? null
  tools.emit('started', startedEvent(attempt))
  const end = (ended: Ended): void =>
    handlerEnded({ attempt, handler, trace, ended, decision: null, ranMs: 0 }, tools)
  if (trace === undefined) void tools.runAttempt(attempt, handler, tools, end)
  else runTraced(trace, attempt, handler, tools, end)
}

/** A job whose handler has ended. */
interface Run {
  readonly attempt: Attempt
  readonly handler: Handler
  readonly trace: AttemptTrace | undefined
  readonly ended: Ended
  decision: Decision | null
  /** What replaces a completion that can never be written. */
  failed?: { readonly ended: Ended; readonly decision: Decision }
  ranMs: number
}

function handlerEnded(run: Run, tools: RunJobTools): void {
  try {
    finishRun(run, tools)
  } catch (error) {
    tools.failing(error)
  }
}

function finishRun(run: Run, tools: RunJobTools): void {
  const { attempt, handler, trace, ended } = run
  run.ranMs = tools.platform.monotonic() - attempt.startedAt
  tools.attempts.end(attempt)
  // Returned to the queue at the end of a stop: another instance may run it by now.
  if (attempt.abandoned) {
    trace?.ended('interrupted', undefined)
    return tools.attempts.forget(attempt)
  }
  const decision = (run.decision = decisionFor(ended, attempt, handler, tools))
  // If a transaction of the user completed it, only the database knows the outcome.
  if (!attempt.completedInTx) trace?.ended(decision.outcome, thrownIn(ended))
  const item = finishOf(attempt, decision, run.ranMs, followUps(attempt, decision, handler))
  const write = attempt.completedInTx ? tools.finishAfterTx : tools.finish
  const written = (finished: Finished | null, as: Finish): void => outcomeWritten(run, as, finished, tools)
  const asFailed: AsFailed = (error) => failedRun(run, error, tools)
  if (trace === undefined) return write(item, written, asFailed)
  void finishTraced(trace, write, item, asFailed)
    .then(([finished, as]) => written(finished, as))
    .catch(tools.failing)
}

/**
 * For a completion that can never be written: the attempt fails as if it had thrown. `retryIf` is not called,
 * because the handler did not throw.
 */
function failedRun(run: Run, cause: unknown, tools: RunJobTools): Finish {
  const { attempt, handler } = run
  const what = 'the handler returned, but its completion could not be written'
  const fix = 'Change the result, or the jobs enqueued with the completion'
  const error = new JobmillError('DATA_REFUSED', what, { fix, cause })
  const ended: Ended = { how: 'failed', error }
  // Decided once, even if this is called again: the delay is random, and the stack is logged.
  run.failed ??= { ended, decision: decisionFor(ended, attempt, { ...handler, retryIf: undefined }, tools) }
  const { decision } = run.failed
  return finishOf(attempt, decision, run.ranMs, followUps(attempt, decision, handler))
}

/** Called in a loop by the finisher, so it must not throw. */
function outcomeWritten(run: Run, item: Finish, finished: Finished | null, tools: RunJobTools): void {
  const { attempt, trace } = run
  try {
    const isDone = run.decision?.transition.to === 'done'
    const as = isDone && item.transition.to !== 'done' ? (run.failed ?? run) : run
    const { decision } = as
    if (decision === null) return
    const ended = keptOf(as.ended, item)
    if (attempt.completedInTx)
      trace?.ended(finished?.state === 'done' ? 'returned' : decision.outcome, thrownIn(ended))
    tools.attempts.forget(attempt)
    if (finished === null) return
    if (finished.accepted) tools.written(attempt, item, finished)
    const totalMs = totalOf(attempt, tools.platform.monotonic())
    const outcome = { decision, ended, finished, ranMs: run.ranMs, totalMs, reason: '' }
    if (finished.state !== 'cancelled') emitOutcome(tools.emit, attempt, outcome)
    else emitCancelled(attempt, outcome, tools)
  } catch (error) {
    tools.failing(error)
  }
}

/** A result that the database refused is reported as not kept. */
function keptOf(ended: Ended, { transition, error }: Finish): Ended {
  const isLost =
    ended.how === 'returned' &&
    ended.result !== null &&
    transition.to === 'done' &&
    transition.result === null
  return isLost ? { how: 'returned', result: null, notKept: error ?? 'could not be stored' } : ended
}

/** If another process cancelled too late for the handler to notice, the database has the reason. */
function emitCancelled(attempt: Attempt, outcome: WrittenOutcome, tools: RunJobTools): void {
  const emitWith = (reason: string): void => emitOutcome(tools.emit, attempt, { ...outcome, reason })
  const reason = attempt.interruption?.message
  if (reason === undefined) tools.cancelReason(attempt.lease.id).then(emitWith).catch(tools.failing)
  else emitWith(reason)
}

function startedEvent({ lease, trace, waitedMs }: Attempt): EventTable['started'] {
  const { id, kind, queue, attempt, maxAttempts, crashes } = lease
  const event = { id, kind, queue, attempt, maxAttempts, crashes, waitedMs }
  return trace === null ? event : { ...event, trace }
}

/**
 * From enqueue to now: by the database clock until the claim, then by the local clock, so that the two are
 * never compared.
 */
function totalOf({ lease, waitedMs, startedAt }: Attempt, now: number): number {
  return lease.readyAt - lease.enqueuedAt + waitedMs + (now - startedAt)
}

/**
 * A tracer that throws must not block the worker or lose the job. A separate function, so that untraced jobs
 * do not pay for its closures.
 */
function runTraced(
  trace: AttemptTrace,
  attempt: Attempt,
  handler: Handler,
  tools: RunTools & { readonly runAttempt: RunAttempt },
  end: (ended: Ended) => void,
): void {
  const run = (): Promise<Ended> =>
    trace.run(() => new Promise((resolve) => void tools.runAttempt(attempt, handler, tools, resolve)))
  void Promise.resolve()
    .then(run)
    .catch((error: unknown): Ended => ({ how: 'failed', error }))
    .then(end)
}

/** The outcome is written once, even if the tracer throws. */
async function finishTraced(
  trace: AttemptTrace,
  write: Finisher['put'],
  item: Finish,
  asFailed: AsFailed,
): Promise<readonly [Finished | null, Finish]> {
  let as = item
  let writing: Promise<Finished | null> | undefined
  const once = (): Promise<Finished | null> =>
    (writing ??= new Promise((resolve) =>
      write(
        item,
        (finished, written) => {
          as = written
          resolve(finished)
        },
        asFailed,
      ),
    ))
  try {
    await trace.finish(once)
  } catch {
    // The reply below is the one from the database.
  }
  return [await once(), as]
}

/** The error of the handler. Undefined when it returned. */
function thrownIn(ended: Ended): unknown {
  if ('thrown' in ended) return ended.thrown
  return 'error' in ended ? ended.error : undefined
}
