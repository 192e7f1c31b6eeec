/** Limits as plain data: a rate, or a concurrency. */
import { BOUNDS, DEFAULTS } from '../defaults.ts'
import { type Duration, durationMs } from '../duration.ts'
import { JobmillError, quote } from '../errors.ts'
import { checkObjectKeys } from '../options/known-keys.ts'
import { checkBoolean, checkOneOf, checkWhole } from '../numbers.ts'

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

/** The complete settings from the public options. */
export function limitSettings(options: LimitOptions, field: string): LimitSettings {
  return completeLimit(limitParts(options, field))
}

/** Fills in the parts that a rate omits: per second, and a burst that follows from the rate. */
export function completeLimit(parts: LimitParts): LimitSettings {
  if (parts.type === 'concurrency') return parts
  const { type, amount, perMs = DEFAULTS.limitPerMs, perKey } = parts
  if (amount === undefined) throw neitherRateNorConcurrency('limit')
  const { burst = defaultBurst(amount, perMs) } = parts
  return { type, amount, perMs, burst, ...(perKey === true && { perKey }) }
}

/** Validates the options that are set, and adds nothing. */
export function limitParts(options: LimitOptions, field: string): LimitParts {
  const given = options as {
    rate?: unknown
    per?: Duration
    burst?: unknown
    perKey?: unknown
    concurrency?: unknown
  }
  if (typeof given === 'object' && given !== null && 'concurrency' in given) {
    if (given.perKey === true) throw concurrencyPerKey(field)
    checkObjectKeys(given, field, ['concurrency', 'perKey'])
    return { type: 'concurrency', most: checkWhole(given.concurrency, `${field}.concurrency`, BOUNDS.limit) }
  }
  checkObjectKeys(given, field, ['rate', 'per', 'burst', 'perKey', 'concurrency'])
  return {
    type: 'rate',
    amount: checkWhole(given.rate, `${field}.rate`, BOUNDS.limit),
    ...rateRest(given, field),
  }
}

/** The options of a rate other than the rate itself. */
export function rateRest(
  given: { readonly per?: Duration; readonly burst?: unknown; readonly perKey?: unknown },
  field: string,
): Omit<RateParts, 'type' | 'amount'> {
  const perMs = given.per === undefined ? undefined : durationMs(given.per, `${field}.per`)
  if (perMs !== undefined && perMs < BOUNDS.shortestPerMs) {
    throw new JobmillError('DURATION_INVALID', `must not be shorter than ${BOUNDS.shortestPerMs} ms`, {
      field: `${field}.per`,
      value: quote(given.per),
      fix: "Pass the period of the rate, such as '1s' or '1m'; a number is milliseconds",
    })
  }
  const burst =
    given.burst === undefined ? undefined : checkWhole(given.burst, `${field}.burst`, BOUNDS.limit)
  const perKey = given.perKey !== undefined && checkBoolean(given.perKey, `${field}.perKey`)
  return {
    ...(perMs !== undefined && { perMs }),
    ...(burst !== undefined && { burst }),
    ...(perKey && { perKey: true as const }),
  }
}

export function neitherRateNorConcurrency(field: string): JobmillError {
  return new JobmillError('OPTION_INVALID', 'must have a rate or a concurrency', {
    field,
    fix: { code: 'limit.type' },
  })
}

function concurrencyPerKey(field: string): JobmillError {
  return new JobmillError('OPTION_CONFLICT', 'applies to rates, not to a concurrency', {
    field: `${field}.perKey`,
    fix: 'Omit perKey; enqueue jobs with an orderKey to run the jobs of one key one at a time',
  })
}

/** The amount of one second, and at least one. */
export function defaultBurst(amount: number, perMs: number): number {
  return Math.max(1, Math.floor((amount * 1_000) / perMs))
}

/** Validates the parts that stores receive: a declaration sets all of them, a change only what it changes. */
export function checkLimitParts<P extends LimitParts>(parts: P, field: string, isChange = false): P {
  if (parts.type === 'concurrency') {
    checkObjectKeys(parts, field, ['type', 'most'])
    checkWhole(parts.most, `${field}.most`, BOUNDS.limit)
    return parts
  }
  checkObjectKeys(parts, field, ['type', 'amount', 'perMs', 'burst', 'perKey'])
  const { amount, perMs, burst, perKey } = parts
  if (amount !== undefined || !isChange) checkWhole(amount, `${field}.amount`, BOUNDS.limit)
  if (perMs !== undefined) checkWhole(perMs, `${field}.perMs`, { least: 1, most: BOUNDS.durationMs })
  if (burst !== undefined) checkWhole(burst, `${field}.burst`, BOUNDS.limit)
  if (perKey !== undefined) checkOneOf(String(perKey), `${field}.perKey`, ['true'])
  return parts
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
