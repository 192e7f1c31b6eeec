/**
 * The policy: from how an attempt ended to what becomes of the job. Pure, so that every case stands in one table test.
 */
import { type BackoffPlan, retryDelayMs } from './backoff.ts'
import { DEFAULTS } from './defaults.ts'
import { errorText } from './error-text.ts'
import type { Interruption } from './interruption.ts'
import type { Outcome } from './outcome.ts'
import type { QueueSettings } from './queue-settings.ts'
import type { Dead, Snooze, Throttled } from './thrown.ts'

/** Every way in which an attempt can end. */
export type Ended =
  /** `notKept` says why the result is missing: the work happened all the same. */
  | { readonly how: 'returned'; readonly result: string | null; readonly notKept?: string }
  | { readonly how: 'failed'; readonly error: unknown }
  | { readonly how: 'snoozed'; readonly thrown: Snooze }
  | { readonly how: 'throttled'; readonly thrown: Throttled }
  | { readonly how: 'failed-permanently'; readonly thrown: Dead }
  /** It threw after it was asked to stop. */
  | { readonly how: 'interrupted'; readonly by: Interruption; readonly error: unknown }
  /** The payload does not fit, so the handler never ran. */
  | { readonly how: 'unfit'; readonly error: unknown }

export interface Circumstances {
  readonly attempt: number
  readonly maxAttempts: number
  readonly backoff: BackoffPlan | undefined
  /** Since it was enqueued, by the clock of the database. */
  readonly ageMs: number
  /** What the kind's `retryIf` says of the error. */
  readonly mayRetry: boolean
  readonly queue: Pick<
    QueueSettings,
    'backoffEnabled' | 'backoffBaseMs' | 'backoffMaxMs' | 'retainDoneMs' | 'keepDone'
  >
  /** In [0, 1). */
  readonly random: number
}

/** The part of a finish that is policy; `store/finish.ts` says what its words do. */
export interface Decision {
  readonly outcome: Outcome
  readonly transition:
    | { readonly to: 'done'; readonly result: string | null; readonly forget?: boolean }
    | { readonly to: 'scheduled'; readonly delayMs: number; readonly refund: boolean }
    | { readonly to: 'ready' }
    | { readonly to: 'dead'; readonly refund?: boolean }
    | { readonly to: 'cancelled' }
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
    case 'interrupted':
      return interrupted(ended.by, ended.error, circumstances)
  }
}

/** All that it needs to know is whether anything is kept. */
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
 * A payload of the next release comes to a process of the release before while they are replaced. Such a job is young, and goes back without a charge, so that
 * a process that knows its payload can take it. One that is older has met its release: it spends its attempts like any job that fails.
 */
function unfit(error: unknown, circumstances: Circumstances): Decision {
  if (circumstances.ageMs >= DEFAULTS.unfitFreeMs)
    return failed('failed', error, { ...circumstances, mayRetry: true })
  const { attempt, maxAttempts, backoff, queue, random } = circumstances
  const waitMs = retryDelayMs(backoff, queue, { attempt, maxAttempts, error }, random)
  // A backoff that is switched off must not make the processes pass the job around without a pause.
  const delayMs = Math.max(waitMs, DEFAULTS.unfitPauseMs)
  return {
    outcome: 'failed',
    transition: { to: 'scheduled', delayMs, refund: true },
    error: errorText(error),
  }
}

/** It keeps its place: nothing is claimed from its queue until the cool-down is over, and then it is the first again. */
function throttled(thrown: Throttled, { queue }: Circumstances): Decision {
  const error = errorText(thrown)
  const outcome = 'throttled'
  const forMs = thrown.retryAfterMs
  // No cool-down asked for: behind the others, or it would spin at the head of its queue.
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
  // Who blocked the loop is not known, so whoever threw because of it pays: or it would block for ever, alone and unseen.
  if (by.blocked) return failed('failed', by, circumstances)
  // Neither the job's fault nor its end: it goes back to its place, and the attempt is not spent.
  return { outcome: 'interrupted', transition: { to: 'ready' }, error: errorText(error) }
}
