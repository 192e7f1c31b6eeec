/** Parses durations and instants: milliseconds, or text such as `'90s'` and `'1h30m'`. */
import { BOUNDS } from './defaults.ts'
import { invalidValue, type JobmillError } from './errors.ts'
import type { Fix } from './fixes.ts'

export type Duration = number | string

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g

/** Milliseconds, rounded to whole ones. 0 is allowed; negative, infinite and more than ten years are not. */
export function durationMs(value: unknown, field: string): number {
  const ms = typeof value === 'string' ? parse(value) : value
  const invalid = (what: string, fix: string | Fix): JobmillError =>
    invalidValue(field, value, what, fix, 'DURATION_INVALID')
  if (typeof ms !== 'number' || !Number.isFinite(ms))
    throw invalid('must be a duration', { code: 'duration.units' })
  if (ms < 0) throw invalid('must not be negative', 'Pass 0 or more')
  if (ms > BOUNDS.durationMs) throw invalid('must not be longer than ten years', { code: 'duration.most' })
  return Math.round(ms)
}

/** The shortest text in one unit that `durationMs` parses to this value. */
export function durationText(ms: number): string {
  const [unit, size] = Object.entries(UNIT_MS).findLast(([, each]) => ms >= each && ms % each === 0) ?? [
    'ms',
    1,
  ]
  return `${ms / size}${unit}`
}

/** As `durationMs`, but must be greater than 0. */
export function timeoutMs(value: unknown, field: string): number {
  // `durationMs` would suggest 0 for a negative number.
  const ms = typeof value === 'number' && value < 0 ? 0 : durationMs(value, field)
  if (ms > 0) return ms
  const fix = 'Pass a longer duration, or omit it'
  throw invalidValue(field, value, 'must be longer than 0', fix, 'DURATION_INVALID')
}

/** A wait that an upstream asked for: as `durationMs`, but at most 24 hours. */
export function retryAfterMs(value: unknown, field: string): number {
  const ms = durationMs(value, field)
  if (ms <= BOUNDS.retryAfterMs) return ms
  const fix = 'Pause the queue or snooze the job for a longer wait'
  throw invalidValue(field, value, 'must not be longer than 24 hours', fix, 'DURATION_INVALID')
}

/** As `durationMs`, but turns `'forever'` into null. */
export function durationOrForever(value: unknown, field: string): number | null {
  return value === 'forever' ? null : durationMs(value, field)
}

function parse(text: string): number {
  const compact = text.trim()
  if (!WHOLE.test(compact)) return Number.NaN
  let total = 0
  for (const [, amount, unit] of compact.matchAll(PART))
    total += Number(amount) * (UNIT_MS[unit ?? ''] ?? Number.NaN)
  return total
}

/** Parses an instant: a Date, milliseconds since the epoch, or ISO 8601 text with a time zone. */
export function instantAt(value: unknown, field: string): number {
  const invalid = (what: string, fix: string | Fix): JobmillError =>
    invalidValue(field, value, what, fix, 'INSTANT_INVALID')
  if (typeof value === 'string' && ISO_WITHOUT_ZONE.test(value))
    throw invalid('has no time zone', 'Add Z or an offset such as +01:00')
  const at = toInstant(value)
  if (Number.isNaN(at)) throw invalid('must be an instant', { code: 'instant.format' })
  if (at < 0 || at > BOUNDS.lastInstantAt) {
    const fix = 'Pass an instant in this range; a number is milliseconds since 1970'
    throw invalid('must be between 1970 and 2199', fix)
  }
  // An instant in seconds would be in the distant past, and the job would run at once.
  if (typeof value === 'number' && at >= SECONDS_FROM && at < SECONDS_BEFORE) {
    const what = 'is before 1974 when read as milliseconds, so it is probably in seconds'
    throw invalid(what, 'Multiply it by 1,000 to get milliseconds since 1970')
  }
  return Math.round(at)
}

/** Numbers in this range are instants between 1973 and 5138 in seconds, but before 1974 in milliseconds. */
const SECONDS_FROM = 100_000_000
const SECONDS_BEFORE = 100_000_000_000

// Text without a time zone would mean a different instant on every machine.
const ISO_WITH_ZONE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/
const ISO_WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/

function toInstant(value: unknown): number {
  if (value instanceof Date) return value.getTime()
  if (typeof value === 'number') return value
  if (typeof value === 'string' && ISO_WITH_ZONE.test(value) && isDay(value.slice(0, 10)))
    return Date.parse(value)
  return Number.NaN
}

/** Date.parse accepts 30 February as 2 March. */
function isDay(day: string): boolean {
  const at = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day)
}
