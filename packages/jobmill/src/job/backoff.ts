/** How long a failed job waits for its next attempt. */
import { BOUNDS } from './defaults.ts'
import { type Duration, durationMs } from './duration.ts'
import { JobmillError, shown } from './errors.ts'
import { checkObjectKeys } from './known-keys.ts'
import { checkOneOf } from './numbers.ts'
import type { QueueSettings } from './queue-settings.ts'

/** `full`: anything between nothing and the whole wait, so that jobs that failed together do not come back together. */
export type Jitter = 'full' | 'none'

export interface Failure {
  /** 1 after the first attempt. */
  readonly attempt: number
  readonly maxAttempts: number
  readonly error: unknown
}

/** What a kind says of its own; what it leaves out is the queue's. */
export type Backoff =
  /** Always the same wait (jitter `none` unless said otherwise). */
  | { readonly fixed: Duration; readonly jitter?: Jitter }
  /** `base` after the first failure, doubled after each further one, up to `max` (jitter `full` unless said otherwise). */
  | { readonly base?: Duration; readonly max?: Duration; readonly jitter?: Jitter }
  /** As it says. */
  | ((failure: Failure) => Duration)

/** The same, checked: what `retryDelayMs` works with. */
export type BackoffPlan =
  | { readonly fixedMs: number; readonly jitter: Jitter }
  | { readonly baseMs: number | undefined; readonly maxMs: number | undefined; readonly jitter: Jitter }
  | ((failure: Failure) => Duration)

export function backoffPlan(backoff: Backoff, field: string): BackoffPlan {
  if (typeof backoff === 'function') return backoff
  if ('fixed' in backoff) {
    checkObjectKeys(backoff, field, ['fixed', 'jitter'])
    return {
      fixedMs: durationMs(backoff.fixed, `${field}.fixed`),
      jitter: jitterOf(backoff.jitter, 'none', field),
    }
  }
  checkObjectKeys(backoff, field, ['base', 'max', 'jitter', 'fixed'])
  const baseMs = backoff.base === undefined ? undefined : durationMs(backoff.base, `${field}.base`)
  const maxMs = backoff.max === undefined ? undefined : durationMs(backoff.max, `${field}.max`)
  if (baseMs !== undefined && maxMs !== undefined && baseMs > maxMs) {
    throw new JobmillError('OPTION_CONFLICT', 'is longer than backoff.max', {
      field: `${field}.base`,
      value: shown(backoff.base),
      fix: 'Raise max or lower base',
    })
  }
  return { baseMs, maxMs, jitter: jitterOf(backoff.jitter, 'full', field) }
}

function jitterOf(jitter: Jitter | undefined, otherwise: Jitter, field: string): Jitter {
  if (jitter !== undefined) checkOneOf(jitter, `${field}.jitter`, ['full', 'none'])
  return jitter ?? otherwise
}

type Curve = Pick<QueueSettings, 'backoffEnabled' | 'backoffBaseMs' | 'backoffMaxMs'>

/** `random` is a number in [0, 1). The queue's switch is the operator's, and off means at once, whatever the kind says. */
export function retryDelayMs(
  plan: BackoffPlan | undefined,
  queue: Curve,
  failure: Failure,
  random: number,
): number {
  if (!queue.backoffEnabled) return 0
  if (typeof plan === 'function') return askedMs(plan, queue, failure, random)
  if (plan !== undefined && 'fixedMs' in plan) return jittered(plan.fixedMs, plan.jitter, random)
  const base = plan?.baseMs ?? queue.backoffBaseMs
  const max = plan?.maxMs ?? Math.max(queue.backoffMaxMs, plan?.baseMs ?? 0)
  return jittered(doubled(base, max, failure.attempt - 1), plan?.jitter ?? 'full', random)
}

/** A function of the user's that throws, or names no duration, must not make a failure unwritable. */
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
