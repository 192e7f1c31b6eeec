/** Limits as plain data: a rate, or a number of holders at once. */
import { BOUNDS, DEFAULTS } from './defaults.ts'
import { type Duration, durationMs } from './duration.ts'
import { JobmillError, shown } from './errors.ts'
import { checkObjectKeys } from './known-keys.ts'
import { checkBoolean, checkOneOf, checkWhole } from './numbers.ts'

export type LimitSettings = RateSettings | ConcurrencySettings

/** In any window of t ms at most `burst + amount × t / perMs` tokens are taken. */
export interface RateSettings {
  readonly type: 'rate'
  readonly amount: number
  readonly perMs: number
  readonly burst: number
  /** It counts for each key by itself: as many budgets as there are keys, all alike. */
  readonly perKey?: true | undefined
}

export interface ConcurrencySettings {
  readonly type: 'concurrency'
  readonly most: number
}

/** What code or an operator names of a limit. What a rate leaves out follows from the rest, or is the default. */
export type LimitParts = RateParts | ConcurrencySettings

export interface RateParts extends Partial<Omit<RateSettings, 'type'>> {
  readonly type: 'rate'
}

/** What a user writes: `{ rate: 50, per: '1m' }` or `{ concurrency: 5 }`. */
export type LimitOptions =
  | {
      readonly rate: number
      readonly per?: Duration
      readonly burst?: number
      /** Each key has a budget of its own, which comes into being with its first use (default false). */
      readonly perKey?: boolean
    }
  | { readonly concurrency: number }

/** Tokens or permits that can be had at once. */
export function mostAtOnce(settings: LimitSettings): number {
  return settings.type === 'rate' ? settings.burst : settings.most
}

/** All that counts, from what is named. */
export function limitSettings(options: LimitOptions, field: string): LimitSettings {
  return completeLimit(limitParts(options, field))
}

/** What is left out of a rate: per second, and a burst that follows the rate. */
export function completeLimit(parts: LimitParts): LimitSettings {
  if (parts.type === 'concurrency') return parts
  const { type, amount, perMs = DEFAULTS.limitPerMs, perKey } = parts
  if (amount === undefined) throw neitherRateNorConcurrency('limit')
  const { burst = defaultBurst(amount, perMs) } = parts
  return { type, amount, perMs, burst, ...(perKey === true && { perKey }) }
}

/** What is named, checked, and nothing else. */
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

/** The options of a rate apart from the rate. */
export function rateRest(
  given: { readonly per?: Duration; readonly burst?: unknown; readonly perKey?: unknown },
  field: string,
): Omit<RateParts, 'type' | 'amount'> {
  const perMs = given.per === undefined ? undefined : durationMs(given.per, `${field}.per`)
  if (perMs !== undefined && perMs < SHORTEST_PER_MS) {
    throw new JobmillError('DURATION_INVALID', `is shorter than ${SHORTEST_PER_MS} ms`, {
      field: `${field}.per`,
      value: shown(given.per),
      fix: "Numbers are milliseconds: say how long the rate counts for, such as '1s' or '1m'",
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
  return new JobmillError('OPTION_INVALID', 'has neither a rate nor a concurrency', {
    field,
    fix: "Give { rate: 50, per: '1m' } or { concurrency: 5 }",
  })
}

function concurrencyPerKey(field: string): JobmillError {
  return new JobmillError('OPTION_CONFLICT', 'is for rates only, and this is a concurrency', {
    field: `${field}.perKey`,
    fix: 'Enqueue jobs with an orderKey to run those of one key one at a time; leave perKey out',
  })
}

/** What is shorter was nearly always meant in another unit. */
const SHORTEST_PER_MS = 100

/** One second's worth, and at least one. */
export function defaultBurst(amount: number, perMs: number): number {
  return Math.max(1, Math.floor((amount * 1_000) / perMs))
}

/** As stores take them: a declaration names what it is, a change only what becomes different. */
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

/** Settings as they are told and kept: `perKey` stands there only where it is true. */
export function isPerKey(settings: LimitParts): boolean {
  return settings.type === 'rate' && settings.perKey === true
}

/** What the budget of one key is called in a store. No name has a space, so the two can be told apart. */
export function keyedName(name: string, key: string | undefined): string {
  return key === undefined ? name : `${name} ${key}`
}

/** What is kept with an attempt that was sent away by a limit, and how the limit is told from it again. */
export function emptyLimit(name: string, key?: string): string {
  return key === undefined ? `limit ${name} is empty` : `limit ${name} is empty for ${key}`
}

export function limitNamed(
  error: string | null,
): { readonly limit: string; readonly key: string | null } | null {
  const [, limit, key = null] = /^limit (\S+) is empty(?: for (.+))?$/.exec(error ?? '') ?? []
  return limit === undefined ? null : { limit, key }
}
