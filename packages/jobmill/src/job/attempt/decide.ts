/**
 * The retry policy: maps the end of an attempt to the next state of the job. Pure, so that one table test
 * covers every case.
 */
import { type BackoffPlan, retryDelayMs } from './backoff.ts'
import { DEFAULTS } from '../defaults.ts'
import { errorText } from '../text/error-text.ts'
import type { Interruption } from './interruption.ts'
import type { Outcome } from './outcome.ts'
import type { QueueSettings } from '../queue/queue-settings.ts'
import type { Dead, Snooze, Throttled } from './thrown.ts'

/** Every way in which an attempt can end. */
export type Ended =
  /** `notKept` says why the result is missing; the work itself was done. */
  | { readonly how: 'returned'; readonly result: string | null; readonly notKept?: string }
  | { readonly how: 'failed'; readonly error: unknown }
  | { readonly how: 'snoozed'; readonly thrown: Snooze }
  | { readonly how: 'throttled'; readonly thrown: Throttled }
  | { readonly how: 'failed-permanently'; readonly thrown: Dead }
  /** The handler threw after its signal was aborted. */
  | { readonly how: 'interrupted'; readonly by: Interruption; readonly error: unknown }
  /** The payload did not match the schema, so the handler never ran. */
  | { readonly how: 'unfit'; readonly error: unknown }
  /** `complete` threw TX_STALE. */
  | { readonly how: 'stale'; readonly error: unknown }
  /** The handler waits in `step.sleep` or `step.waitForEvent`, and its attempt has ended. */
  | { readonly how: 'parked' }

export interface Circumstances {
  readonly attempt: number
  readonly maxAttempts: number
  readonly backoff: BackoffPlan | undefined
  /** Since the job was enqueued, by the database clock. */
  readonly ageMs: number
  /** What the kind's `retryIf` returned for this error. */
  readonly mayRetry: boolean
  readonly queue: Pick<
    QueueSettings,
    'backoffEnabled' | 'backoffBaseMs' | 'backoffMaxMs' | 'retainDoneMs' | 'keepDone'
  >
  /** In [0, 1). */
  readonly random: number
}

/** The part of a finish that is policy; `store/types/finish.ts` documents the transitions. */
export interface Decision {
  readonly outcome: Outcome
  readonly transition:
    | { readonly to: 'done'; readonly result: string | null; readonly forget?: boolean }
    | { readonly to: 'scheduled'; readonly delayMs: number; readonly refund: boolean }
    | { readonly to: 'ready' }
    | { readonly to: 'dead'; readonly refund?: boolean }
    | { readonly to: 'cancelled' }
    | { readonly to: 'parked' }
  readonly error?: string
  readonly cool?:
    | { readonly forMs: number }
    | { readonly baseMs: number; readonly maxMs: number; readonly quietMs: number }
}

export function decide(ended: Ended, circumstances: Circumstances): Decision {
  switch (ended.how) {
    case 'returned':
      return done(ended, circumstances.queue)
    case 'failed':
      return failed('failed', ended.error, circumstances)
    case 'snoozed':
      return {
        outcome: 'snoozed',
        transition: { to: 'scheduled', delayMs: ended.thrown.forMs, refund: true },
        ...(typeof ended.thrown.why === 'string' && { error: errorText(ended.thrown.why) }),
      }
    case 'throttled':
      return throttled(ended.thrown, circumstances)
    case 'failed-permanently':
      return { outcome: 'failed-permanently', transition: { to: 'dead' }, error: errorText(ended.thrown) }
    case 'unfit':
      return unfit(ended.error, circumstances)
    case 'stale':
      // The transaction began too early, which cannot happen to the next attempt.
      return retriedForFree(ended.error, 0)
    case 'parked':
      return { outcome: 'parked', transition: { to: 'parked' } }
    case 'interrupted':
      return interrupted(ended.by, ended.error, circumstances)
  }
}

/** Takes only the settings that decide whether the done job is retained. */
export function done(
  { result, notKept }: Extract<Ended, { readonly how: 'returned' }>,
  { retainDoneMs, keepDone }: Pick<QueueSettings, 'retainDoneMs' | 'keepDone'>,
): Decision {
  const forget = retainDoneMs === 0 || keepDone === 0
  const transition = forget ? ({ to: 'done', result, forget } as const) : ({ to: 'done', result } as const)
  return notKept === undefined
    ? { outcome: 'returned', transition }
    : { outcome: 'returned', transition, error: notKept }
}

function failed(outcome: 'failed' | 'timed-out', error: unknown, circumstances: Circumstances): Decision {
  const { attempt, maxAttempts, backoff, mayRetry, queue, random } = circumstances
  const text = errorText(error)
  if (attempt >= maxAttempts || !mayRetry) return { outcome, transition: { to: 'dead' }, error: text }
  const delayMs = retryDelayMs(backoff, queue, { attempt, maxAttempts, error }, random)
  return { outcome, transition: { to: 'scheduled', delayMs, refund: false }, error: text }
}

/**
 * During a rolling deploy, a process of the old release may claim a payload of the new one. A young job
 * returns to the queue without spending an attempt, so that a new process can claim it. For an older job this
 * is a normal failure.
 */
function unfit(error: unknown, circumstances: Circumstances): Decision {
  if (circumstances.ageMs >= DEFAULTS.unfitFreeMs)
    return failed('failed', error, { ...circumstances, mayRetry: true })
  const { attempt, maxAttempts, backoff, queue, random } = circumstances
  const waitMs = retryDelayMs(backoff, queue, { attempt, maxAttempts, error }, random)
  // When backoff is disabled, this keeps processes from passing the job around without a pause.
  return retriedForFree(error, Math.max(waitMs, DEFAULTS.unfitPauseMs))
}

function retriedForFree(error: unknown, delayMs: number): Decision {
  return {
    outcome: 'failed',
    transition: { to: 'scheduled', delayMs, refund: true },
    error: errorText(error),
  }
}

/**
 * The job keeps its place: its queue claims nothing until the cool-down ends, and then this job is first
 * again.
 */
function throttled(thrown: Throttled, { queue }: Circumstances): Decision {
  const error = errorText(thrown)
  const outcome = 'throttled'
  const forMs = thrown.retryAfterMs
  // Without a cool-down the job moves behind the others, or it would spin at the head of its queue.
  if (forMs === 0) return { outcome, error, transition: { to: 'scheduled', delayMs: 0, refund: true } }
  const transition = { to: 'ready' } as const
  if (forMs !== null) return { outcome, error, transition, cool: { forMs } }
  if (!queue.backoffEnabled) return { outcome, error, transition, cool: { forMs: DEFAULTS.throttleFlatMs } }
  const { backoffBaseMs: baseMs, backoffMaxMs: maxMs } = queue
  return {
    outcome,
    error,
    transition,
    cool: { baseMs, maxMs, quietMs: DEFAULTS.throttleQuietMs },
  }
}

function interrupted(by: Interruption, error: unknown, circumstances: Circumstances): Decision {
  if (by.why === 'timeout') return failed('timed-out', error, circumstances)
  if (by.why === 'cancelled')
    return { outcome: 'cancelled', transition: { to: 'cancelled' }, error: by.message }
  // It is unknown which handler blocked the event loop, so each interrupted attempt counts as failed. A
  // handler that blocks every time would otherwise be retried without end.
  if (by.blocked) return failed('failed', by, circumstances)
  // The job is not at fault: it returns to its place, and the attempt is not spent.
  return { outcome: 'interrupted', transition: { to: 'ready' }, error: errorText(error) }
}
