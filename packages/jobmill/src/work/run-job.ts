/** One job, from its lease to its written outcome: run, decide, finish, tell. */
import { decide, type Decision, done, type Ended } from '../job/decide.ts'
import { isJobmillError } from '../job/errors.ts'
import type { Emit, EventTable } from '../job/events.ts'
import type { NewJob } from '../job/new-job.ts'
import { onDeadJob } from '../job/on-dead.ts'
import type { QueueSettings } from '../job/queue-settings.ts'
import type { Tracing } from '../job/tracing.ts'
import type { Lease } from '../store/claim.ts'
import type { Finish, Finished } from '../store/finish.ts'
import { type Attempt, newAttempt } from './attempt.ts'
import type { Attempts } from './attempts.ts'
import type { Handler } from './handler.ts'
import { logBuffer } from './log-buffer.ts'
import { jobInfo } from './make-context.ts'
import { type RunTools, runAttempt } from './run-attempt.ts'
import { tellOutcome } from './tell-outcome.ts'
import { finishTraced, runTraced, thrownIn } from './traced.ts'

export interface RunJobTools extends RunTools {
  readonly attempts: Attempts
  readonly handler: (kind: string) => Handler
  readonly settings: (queue: string) => QueueSettings
  /** The second one for outcomes that may have to wait for a transaction of a user's. */
  readonly finish: (item: Finish) => Promise<Finished | null>
  readonly finishAfterTx: (item: Finish) => Promise<Finished | null>
  readonly emit: Emit
  readonly tracing: Tracing | null
  /** Why a job was cancelled, as the database tells it. */
  readonly cancelReason: (id: string) => Promise<string>
  /** A worker is free, or an outcome is written: there may be room for more. */
  readonly moved: () => void
  /** The outcome is written. */
  readonly written: (attempt: Attempt, item: Finish, finished: Finished) => void
}

export async function runJob(lease: Lease, tools: RunJobTools): Promise<void> {
  const { platform, attempts, emit } = tools
  const handler = tools.handler(lease.kind)
  const attempt = newAttempt(lease, platform.monotonic(), logBuffer())
  attempts.add(attempt)
  const trace = tools.tracing?.attempt(lease, platform.now())
  attempt.trace = trace?.ids ?? null
  emit('started', startedEvent(attempt))
  let ended: Ended
  try {
    ended = await (trace === undefined
      ? runAttempt(attempt, handler, tools)
      : runTraced(trace, attempt, handler, tools))
  } catch (error) {
    // It never rejects; if it did, the worker and the job would be lost for the life of the process.
    ended = { how: 'threw', error }
  }
  const ranMs = platform.monotonic() - attempt.startedAt
  attempts.end(attempt)
  tools.moved()
  // Handed back at the end of a stop: somebody else may run it by now.
  if (attempt.abandoned) {
    trace?.ended('interrupted', undefined)
    return attempts.forget(attempt)
  }

  const decision = decided(ended, attempt, handler, tools)
  // Of one that was completed in a transaction of the user's only the database knows how it ended.
  if (!attempt.completedInTx) trace?.ended(decision.outcome, thrownIn(ended))
  const item = finishOf(attempt, decision, ranMs, followUps(attempt, decision, handler))
  const write = attempt.completedInTx ? tools.finishAfterTx : tools.finish
  const finished = await (trace === undefined ? write(item) : finishTraced(trace, write, item))
  if (attempt.completedInTx)
    trace?.ended(finished?.state === 'done' ? 'returned' : decision.outcome, thrownIn(ended))
  attempts.forget(attempt)
  tools.moved()
  if (finished === null) return
  if (finished.accepted) tools.written(attempt, item, finished)
  const reason = finished.state === 'cancelled' ? await cancelReason(attempt, tools) : ''
  const total = totalMs(attempt, platform.monotonic())
  tellOutcome(emit, attempt, { decision, ended, finished, ranMs, totalMs: total, reason })
}

function startedEvent({ lease, trace }: Attempt): EventTable['started'] {
  const { id, kind, queue, attempt, maxAttempts, crashes, waitedMs } = lease
  const event = { id, kind, queue, attempt, maxAttempts, crashes, waitedMs }
  return trace === null ? event : { ...event, trace }
}

/** What most jobs do needs no policy: it is decided without asking for the settings of the queue, or for chance. */
function decided(ended: Ended, attempt: Attempt, handler: Handler, tools: RunJobTools): Decision {
  if (ended.how === 'returned') return done(ended, tools.settings(attempt.lease.queue))
  logStack(ended, attempt, tools.platform.now())
  return decide(ended, circumstances(ended, attempt, handler, tools))
}

/** From its enqueue to now: up to the claim by the database's clock, from there by ours, so that the two are never compared. */
function totalMs({ lease, startedAt }: Attempt, now: number): number {
  return lease.readyAt - lease.enqueuedAt + lease.waitedMs + (now - startedAt)
}

/** Asked for by another process so late that the handler never heard of it: then the database knows why. */
async function cancelReason(attempt: Attempt, tools: RunJobTools): Promise<string> {
  return attempt.interruption?.message ?? tools.cancelReason(attempt.lease.id)
}

/** The error that is stored tells what; the log of the attempt tells where. */
function logStack(ended: Ended, { log }: Attempt, at: number): void {
  if (ended.how !== 'threw' && ended.how !== 'interrupted') return
  if (ended.how === 'interrupted' && ended.error === ended.by) return
  try {
    const { error } = ended
    if (!(error instanceof Error) || isJobmillError(error) || typeof error.stack !== 'string') return
    log.add({ at, level: 'error', message: 'the handler threw', fields: { stack: error.stack } })
  } catch {
    // What was thrown comes from anywhere, and reading it may throw.
  }
}

function circumstances(ended: Ended, { lease }: Attempt, handler: Handler, tools: RunJobTools) {
  return {
    attempt: lease.attempt,
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
    // It cannot be waited for, and must not end the process when it rejects.
    answer.catch(() => {})
    return true
  } catch {
    // A question that cannot be answered must not kill a job.
    return true
  }
}

function followUps(attempt: Attempt, decision: Decision, handler: Handler): NewJob[] {
  const { to } = decision.transition
  // What was handed to a transaction of the user's was written there.
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
  // Each of its fields by name, also those that it has not: all items of a write have one shape then.
  return {
    id: attempt.lease.id,
    token: attempt.lease.token,
    outcome: decision.outcome,
    transition: decision.transition,
    error: decision.error,
    ranMs,
    log: attempt.log.text(),
    cool: decision.cool,
    followUps: jobs.length === 0 ? undefined : jobs,
  }
}
