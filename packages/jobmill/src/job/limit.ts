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

export function limitSettings(options: LimitOptions, field: string): LimitSettings {
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
  const amount = checkWhole(given.rate, `${field}.rate`, BOUNDS.limit)
  const perMs = given.per === undefined ? DEFAULTS.limitPerMs : durationMs(given.per, `${field}.per`)
  if (perMs < SHORTEST_PER_MS) {
    throw new JobmillError('DURATION_INVALID', `is shorter than ${SHORTEST_PER_MS} ms`, {
      field: `${field}.per`,
      value: shown(given.per),
      fix: "Numbers are milliseconds: say how long the rate counts for, such as '1s' or '1m'",
    })
  }
  const burst =
    given.burst === undefined
      ? defaultBurst(amount, perMs)
      : checkWhole(given.burst, `${field}.burst`, BOUNDS.limit)
  const perKey = given.perKey !== undefined && checkBoolean(given.perKey, `${field}.perKey`)
  return { type: 'rate', amount, perMs, burst, ...(perKey && { perKey: true as const }) }
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

/** Settings as stores take them. */
export function checkLimitSettings(settings: LimitSettings, field: string): LimitSettings {
  if (settings.type === 'concurrency') {
    checkObjectKeys(settings, field, ['type', 'most'])
    checkWhole(settings.most, `${field}.most`, BOUNDS.limit)
    return settings
  }
  checkObjectKeys(settings, field, ['type', 'amount', 'perMs', 'burst', 'perKey'])
  checkWhole(settings.amount, `${field}.amount`, BOUNDS.limit)
  checkWhole(settings.perMs, `${field}.perMs`, { least: 1, most: BOUNDS.durationMs })
  checkWhole(settings.burst, `${field}.burst`, BOUNDS.limit)
  if (settings.perKey !== undefined) checkOneOf(String(settings.perKey), `${field}.perKey`, ['true'])
  return settings
}

/** Settings as they are told and kept: `perKey` stands there only where it is true. */
export function isPerKey(settings: LimitSettings): boolean {
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
