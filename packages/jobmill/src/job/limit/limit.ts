/** Limits as plain data: a rate, or a concurrency. */
import { BOUNDS, DEFAULTS } from '../defaults.ts'
import { type Duration, durationMs } from '../duration.ts'
import { invalidValue, JobmillError } from '../errors.ts'
import { checkObjectKeys } from '../options/known-keys.ts'
import { omitUndefined } from '../options/omit-undefined.ts'
import { checkBoolean, checkWhole } from '../numbers.ts'

export type LimitSettings = RateSettings | ConcurrencySettings

/** In any window of t ms, at most `burst + amount × t / perMs` tokens are granted. */
export interface RateSettings {
  readonly type: 'rate'
  readonly amount: number
  readonly perMs: number
  readonly burst: number
  /** Each key has its own budget, with the same settings. */
  readonly perKey?: true | undefined
}

export interface ConcurrencySettings {
  readonly type: 'concurrency'
  readonly most: number
}

/**
 * The options of a limit that code or an operator set. Omitted parts of a rate are derived or take their
 * default.
 */
export type LimitParts = RateParts | ConcurrencySettings

export interface RateParts extends Partial<Omit<RateSettings, 'type'>> {
  readonly type: 'rate'
}

/** The public options: `{ rate: 50, per: '1m' }` or `{ concurrency: 5 }`. */
export type LimitOptions =
  | {
      /** Tokens that are granted per period. */
      readonly rate: number
      /** The period of the rate (default 1 s). */
      readonly per?: Duration
      /** Tokens that can be granted at once. Default: the rate of one second, and at least 1. */
      readonly burst?: number
      /** Each key has its own budget, created on first use (default false). */
      readonly perKey?: boolean
    }
  | {
      /** Permits that can be held at once. Used instead of `rate`. */
      readonly concurrency: number
    }

/** The most tokens or permits that can be acquired at once. */
export function mostAtOnce(settings: LimitSettings): number {
  return settings.type === 'rate' ? settings.burst : settings.most
}

/** Fills in the parts that a rate omits: per second, and a burst that follows from the rate. */
export function completeLimit(parts: LimitParts): LimitSettings {
  if (parts.type === 'concurrency') return parts
  const { type, amount, perMs = DEFAULTS.limitPerMs, perKey } = parts
  if (amount === undefined) throw neitherRateNorConcurrency('limit')
  const { burst = defaultBurst(amount, perMs) } = parts
  return { type, amount, perMs, burst, ...(perKey === true && { perKey }) }
}

export const LIMIT_KEYS: readonly string[] = ['rate', 'per', 'burst', 'perKey', 'concurrency']

interface RateOptions {
  readonly per?: Duration
  readonly burst?: unknown
  readonly perKey?: unknown
}

/** Validates the options that are set, and adds nothing. */
export function limitParts(options: LimitOptions, field: string): LimitParts {
  // First, so that an option of another library is named instead of a missing rate.
  checkObjectKeys(options, field, LIMIT_KEYS)
  const given: RateOptions & { readonly rate?: unknown; readonly concurrency?: unknown } = options
  if ('concurrency' in given) {
    if ('rate' in given) throw rateAndConcurrency(field)
    if (given.perKey === true) throw concurrencyPerKey(field)
    checkObjectKeys(given, field, ['concurrency', 'perKey'])
    return { type: 'concurrency', most: checkWhole(given.concurrency, `${field}.concurrency`, BOUNDS.limit) }
  }
  if (!('rate' in given)) throw neitherRateNorConcurrency(field)
  const amount = checkWhole(given.rate, `${field}.rate`, BOUNDS.limit)
  return { type: 'rate', amount, ...rateRest(given, field) }
}

/** The options of a rate other than the rate itself. */
export function rateRest(given: RateOptions, field: string): Omit<RateParts, 'type' | 'amount'> {
  const perMs = given.per === undefined ? undefined : durationMs(given.per, `${field}.per`)
  if (perMs !== undefined && perMs < BOUNDS.shortestPerMs) {
    const fix = "Pass the period of the rate, such as '1s' or '1m'; a number is milliseconds"
    const what = `must not be shorter than ${BOUNDS.shortestPerMs} ms`
    throw invalidValue(`${field}.per`, given.per, what, fix, 'DURATION_INVALID')
  }
  const burst =
    given.burst === undefined ? undefined : checkWhole(given.burst, `${field}.burst`, BOUNDS.limit)
  const perKey = given.perKey !== undefined && checkBoolean(given.perKey, `${field}.perKey`)
  return omitUndefined({ perMs, burst, perKey: perKey ? (true as const) : undefined })
}

export function neitherRateNorConcurrency(field: string): JobmillError {
  return new JobmillError('OPTION_INVALID', 'must have a rate or a concurrency', {
    field,
    fix: { code: 'limit.type' },
  })
}

function rateAndConcurrency(field: string): JobmillError {
  return new JobmillError('OPTION_CONFLICT', 'cannot have both a rate and a concurrency', {
    field,
    fix: 'Declare two limits and acquire both',
  })
}

function concurrencyPerKey(field: string): JobmillError {
  return new JobmillError('OPTION_CONFLICT', 'applies to rates, not to concurrency limits', {
    field: `${field}.perKey`,
    fix: 'Omit perKey; enqueue jobs with an orderKey to run the jobs of one key one at a time',
  })
}

/** The tokens of one second, at least one. */
export function defaultBurst(amount: number, perMs: number): number {
  return Math.max(1, Math.floor((amount * 1_000) / perMs))
}

/** `perKey` is stored only where it is true. */
export function isPerKey(settings: LimitParts): boolean {
  return settings.type === 'rate' && settings.perKey === true
}

/** Identifies a budget in memory. Names have no spaces, so that no two budgets share an id. */
export function budgetId(limit: string, key = ''): string {
  return `${limit} ${key}`
}

/** Stored with an attempt that a limit rejected. */
export function emptyLimit(name: string, key?: string): string {
  return key === undefined
    ? `limit ${name} is empty`
    : `limit ${name} is empty for key ${JSON.stringify(key)}`
}
