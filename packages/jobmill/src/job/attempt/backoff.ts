/** Backoff: the delay before the next attempt of a failed job. */
import { BOUNDS } from '../defaults.ts'
import { type Duration, durationMs } from '../duration.ts'
import { checkObject, checkObjectKeys } from '../options/known-keys.ts'
import { checkOneOf } from '../numbers.ts'
import { backoffTimes, type QueueSettings } from '../queue/queue-settings.ts'

/**
 * `full` picks a random delay between 0 and the whole backoff, so that jobs that failed together do not retry
 * together.
 */
type Jitter = 'full' | 'none'

export interface Failure {
  /** 1 after the first attempt. */
  readonly attempt: number
  readonly maxAttempts: number
  readonly error: unknown
}

/** The backoff of a kind. The queue's settings fill in what it omits. */
export type Backoff =
  | {
      /** A constant delay, instead of an exponential one. */
      readonly fixed: Duration
      /** `full` picks a random delay between 0 and the backoff. Default: `none` with `fixed`, else `full`. */
      readonly jitter?: Jitter
    }
  | {
      /** The delay after the first failure, doubled after each further one. Omitted: as in the queue. */
      readonly base?: Duration
      /** The longest delay. Omitted: as in the queue. */
      readonly max?: Duration
      /** `full` picks a random delay between 0 and the backoff. Default: `none` with `fixed`, else `full`. */
      readonly jitter?: Jitter
    }
  /** Computed by a function. */
  | ((failure: Failure) => Duration)

/** A validated `Backoff`, the input of `retryDelayMs`. */
export type BackoffPlan =
  | { readonly fixedMs: number; readonly jitter: Jitter }
  | { readonly baseMs: number | undefined; readonly maxMs: number | undefined; readonly jitter: Jitter }
  | ((failure: Failure) => Duration)

export function backoffPlan(backoff: Backoff, field: string): BackoffPlan {
  if (typeof backoff === 'function') return backoff
  checkObject(backoff, field, "{ fixed: '10s' }, { base: '10s', max: '5m' } or a function")
  if ('fixed' in backoff) {
    checkObjectKeys(backoff, field, ['fixed', 'jitter'])
    const fixedMs = durationMs(backoff.fixed, `${field}.fixed`)
    return { fixedMs, jitter: jitterOf(backoff.jitter, 'none', field) }
  }
  checkObjectKeys(backoff, field, ['base', 'max', 'jitter', 'fixed'])
  return { ...backoffTimes(backoff, field), jitter: jitterOf(backoff.jitter, 'full', field) }
}

function jitterOf(jitter: Jitter | undefined, otherwise: Jitter, field: string): Jitter {
  if (jitter !== undefined) checkOneOf(jitter, `${field}.jitter`, ['full', 'none'])
  return jitter ?? otherwise
}

type Curve = Pick<QueueSettings, 'backoffEnabled' | 'backoffBaseMs' | 'backoffMaxMs'>

/** The backoff that applies to a job: that of its kind, completed by that of its queue. */
export type EffectiveBackoff =
  | { readonly type: 'off' }
  | { readonly type: 'function'; readonly delayOf: (failure: Failure) => Duration }
  | { readonly type: 'fixed'; readonly baseMs: number; readonly jitter: Jitter }
  | {
      readonly type: 'exponential'
      readonly baseMs: number
      readonly maxMs: number
      readonly jitter: Jitter
    }

/** When an operator disables backoff for the queue, retries are immediate, whatever the kind says. */
export function effectiveBackoff(plan: BackoffPlan | undefined, queue: Curve): EffectiveBackoff {
  if (!queue.backoffEnabled) return { type: 'off' }
  if (typeof plan === 'function') return { type: 'function', delayOf: plan }
  if (plan !== undefined && 'fixedMs' in plan)
    return { type: 'fixed', baseMs: plan.fixedMs, jitter: plan.jitter }
  return {
    type: 'exponential',
    baseMs: plan?.baseMs ?? queue.backoffBaseMs,
    maxMs: plan?.maxMs ?? Math.max(queue.backoffMaxMs, plan?.baseMs ?? 0),
    jitter: plan?.jitter ?? 'full',
  }
}

/** `random` is in [0, 1). */
export function retryDelayMs(
  plan: BackoffPlan | undefined,
  queue: Curve,
  failure: Failure,
  random: number,
): number {
  const backoff = effectiveBackoff(plan, queue)
  switch (backoff.type) {
    case 'off':
      return 0
    case 'function':
      return askedMs(backoff.delayOf, queue, failure, random)
    case 'fixed':
      return jittered(backoff.baseMs, backoff.jitter, random)
    case 'exponential':
      return jittered(doubled(backoff.baseMs, backoff.maxMs, failure.attempt - 1), backoff.jitter, random)
  }
}

/**
 * If the user's function throws or returns no valid duration, fall back to the queue's backoff, so that the
 * failure can still be written.
 */
function askedMs(
  plan: (failure: Failure) => Duration,
  queue: Curve,
  failure: Failure,
  random: number,
): number {
  try {
    return durationMs(plan(failure), 'backoff')
  } catch {
    return retryDelayMs(undefined, queue, failure, random)
  }
}

/** base, 2 × base, 4 × base, … up to max. */
function doubled(base: number, max: number, times: number): number {
  return Math.min(max, base * 2 ** Math.min(Math.max(times, 0), 52), BOUNDS.durationMs)
}

function jittered(ms: number, jitter: Jitter, random: number): number {
  return jitter === 'none' ? ms : Math.round(ms * random)
}
