/** What becomes of an attempt that has ended: the decision, and the item that is written of it. */
import { decide, type Decision, done, type Ended } from '../job/decide.ts'
import { JobmillError } from '../job/errors.ts'
import type { NewJob } from '../job/new-job.ts'
import { onDeadJob } from '../job/on-dead.ts'
import type { QueueSettings } from '../job/queue-settings.ts'
import type { Platform } from '../platform/platform.ts'
import type { Lease } from '../store/claim.ts'
import type { Finish } from '../store/finish.ts'
import type { Attempt } from './attempt.ts'
import type { Handler } from './handler.ts'
import { jobInfo } from './make-context.ts'
import { stackOf } from './stack-of.ts'

export interface DecideTools {
  readonly platform: Platform
  readonly settings: (queue: string) => QueueSettings
  /** Of the application, as JOBMILL_WORKER_VERSION says it. */
  readonly version: string | null
}

/** What most jobs do needs no policy: it is decided without asking for the settings of the queue, or for chance. */
export function decided(ended: Ended, attempt: Attempt, handler: Handler, tools: DecideTools): Decision {
  if (ended.how === 'returned') return done(ended, tools.settings(attempt.lease.queue))
  logStack(ended, attempt, tools.platform.now())
  return decide(namingProcess(ended, tools), circumstances(ended, attempt, handler, tools))
}

/** The error that is stored tells what; the log of the attempt tells where. */
function logStack(ended: Ended, { log }: Attempt, at: number): void {
  // Whoever throws Dead has decided so: its reason is enough.
  const stack = ended.how === 'failed-permanently' ? undefined : stackOf(ended)
  if (stack !== undefined) log.add({ at, level: 'error', message: 'the handler failed', fields: { stack } })
}

/** Another release may know this payload: so the error says which one does not. */
function namingProcess(ended: Ended, { version }: DecideTools): Ended {
  if (ended.how !== 'unfit') return ended
  const what = `the payload does not fit the schema of the process that claimed the job (version ${version ?? 'not set'})`
  const fix = 'Deploy the release that enqueued it to all processes, or correct the schema or the payload'
  return { how: 'unfit', error: new JobmillError('PAYLOAD_INVALID', what, { fix, cause: ended.error }) }
}

function circumstances(ended: Ended, { lease, waitedMs }: Attempt, handler: Handler, tools: DecideTools) {
  return {
    ageMs: lease.readyAt - lease.enqueuedAt + waitedMs,
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

export function followUps(attempt: Attempt, decision: Decision, handler: Handler): readonly NewJob[] {
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
    log: attempt.logText,
    cool: decision.cool,
    followUps: jobs.length === 0 ? undefined : jobs,
  }
}
