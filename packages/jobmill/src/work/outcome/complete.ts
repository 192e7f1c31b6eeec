/** `complete(tx)`: the fenced finish of an attempt in a transaction of the user. */
import { decide, type Ended } from '../../job/attempt/decide.ts'
import { isJobmillError, JobmillError } from '../../job/errors.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../job/queue/queue-settings.ts'
import type { Finish, Finished } from '../../store/types/finish.ts'
import type { Attempt } from '../attempt.ts'
import type { Handler } from '../handler.ts'
import { kept } from '../run-attempt.ts'
import { finishOf } from './outcome-of.ts'

export interface CompleteTools {
  readonly finish: (items: readonly Finish[], options: { readonly tx: unknown }) => Promise<Finished[]>
  readonly monotonic: () => number
}

interface Completion {
  readonly tx: unknown
  readonly result: unknown
}

/**
 * Allows one call at a time. On another connection a second call would wait for the lock of the first, which
 * waits for its handler.
 */
export async function completeInTx(
  attempt: Attempt,
  handler: Handler,
  completion: Completion,
  tools: CompleteTools,
): Promise<void> {
  if (completion.tx === undefined || completion.tx === null) {
    throw new JobmillError('TX_INVALID', 'is missing', {
      field: 'tx',
      fix: 'Pass the transaction that completes the job, or return from the handler instead',
    })
  }
  if (attempt.isCompleting)
    throw calledTwice(`job ${attempt.lease.id} is being completed by an earlier call that was not awaited`)
  attempt.isCompleting = true
  try {
    await write(attempt, handler, completion, tools)
  } finally {
    attempt.isCompleting = false
  }
}

/** Awaits nothing unnecessary: on SQLite, the write must have happened when this function returns. */
async function write(
  attempt: Attempt,
  handler: Handler,
  { tx, result }: Completion,
  { finish, monotonic }: CompleteTools,
): Promise<void> {
  const early = kept(result, handler.result)
  const ended = early instanceof Promise ? await early : early
  const item = itemFor(attempt, ended, monotonic())
  const before = attempt.completedWith
  attempt.completedInTx = true
  try {
    const [reply] = await finish([item], { tx })
    if (reply?.accepted === true) {
      // After a rollback in between, the reply is not `again`, and this completion counts.
      if (reply.again === true && before !== resultOf(item)) throw completedTwice(attempt)
      attempt.completedWith = resultOf(item)
      return
    }
  } catch (error) {
    attempt.completedInTx = before !== undefined
    if (isJobmillError(error) && error.code === 'TX_STALE') attempt.stale = error
    throw error
  }
  throw new JobmillError('LEASE_LOST', `this attempt no longer holds the lease of job ${attempt.lease.id}`, {
    fix: 'Roll back the transaction',
  })
}

function resultOf({ transition }: Finish): string | null {
  return transition.to === 'done' ? transition.result : null
}

function completedTwice({ lease }: Attempt): JobmillError {
  return calledTwice(`job ${lease.id} was already completed with another result`)
}

function calledTwice(what: string): JobmillError {
  return new JobmillError('HANDLER_INVALID', what, {
    field: 'complete',
    fix: 'Call complete once per attempt, in the transaction that decides the result, and await it',
  })
}

function itemFor(attempt: Attempt, ended: Ended, now: number): Finish {
  const { attempt: number, maxAttempts } = attempt.lease
  const decision = decide(ended, {
    attempt: number,
    maxAttempts,
    backoff: undefined,
    ageMs: 0,
    mayRetry: true,
    // Keeps the row even if retention is 0, because the commit is verified with a read. Retention deletes it
    // later.
    queue: DEFAULT_QUEUE_SETTINGS,
    random: 0,
  })
  return finishOf(attempt, decision, now - attempt.startedAt, attempt.followUps)
}
