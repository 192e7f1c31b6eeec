/**
 * Parses the expression of a schedule: five cron fields, or six with seconds first, a nickname such as
 * `@daily`, or `every 10m`. Refuses expressions that are malformed or never match, and names the position of
 * the error.
 */
import { BOUNDS } from '../defaults.ts'
import { durationMs } from '../duration.ts'
import { invalidValue, isJobmillError, quote } from '../errors.ts'
import { nearest } from '../options/known-keys.ts'
import { type Field, FIELD_NAMES, FIELDS, type FieldName } from './fields.ts'
import { parseField, type Refuse, refuseIn } from './parse-field.ts'

interface Interval {
  readonly type: 'interval'
  readonly ms: number
}

export interface Calendar extends Readonly<Record<FieldName, Field>> {
  readonly type: 'calendar'
  /**
   * How it covers the hours, which decides how clock changes affect it: `every` hour, in `steps` of several
   * (`*` followed by a step), or `named` hours.
   */
  readonly hours: 'every' | 'steps' | 'named'
  /**
   * Both day fields are restricted: a day then needs to match only one of them, as in cron. Otherwise it must
   * match both.
   */
  readonly eitherDay: boolean
}

export type When = Interval | Calendar

const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

const LEAST_MS = 1_000

export function parseWhen(text: unknown, field = 'when'): When {
  const written = checkText(text, field)
  const refuse = refuseIn(written, field)
  const words = [...written.matchAll(/\S+/g)].map((match) => ({ text: match[0], at: match.index + 1 }))
  const [first] = words
  if (first === undefined) return refuse(1, 'is empty', EXAMPLES)
  if (first.text.toLowerCase() === 'every') return interval(written, first.at + 'every'.length, refuse)
  if (first.text.startsWith('@')) return nickname(words, refuse)
  return calendar(words, refuse)
}

/** The stored form: single spaces, trimmed. */
export function tidyWhen(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ')
}

interface Word {
  readonly text: string
  readonly at: number
}

const EXAMPLES = 'Pass five fields such as "0 9 * * MON-FRI", six with seconds first, @daily, or "every 10m"'

function checkText(text: unknown, field: string): string {
  if (typeof text === 'string' && text.length <= BOUNDS.keyChars) return text
  const what = typeof text === 'string' ? `has more than ${BOUNDS.keyChars} characters` : 'must be a string'
  throw invalidValue(field, text, what, EXAMPLES, 'SCHEDULE_INVALID')
}

function interval(written: string, from: number, refuse: Refuse): Interval {
  const rest = written.slice(from - 1)
  const at = from + rest.length - rest.trimStart().length
  const fix = 'Use "every 90s", "every 10m" or "every 1h30m", from 1 s to ten years'
  try {
    const ms = durationMs(rest.replaceAll(/\s+/g, ''), 'every')
    if (ms >= LEAST_MS) return { type: 'interval', ms }
  } catch (error) {
    if (!isJobmillError(error)) throw error
    refuse(at, `${quote(rest.trim())} is not a duration, or is too long`, fix)
  }
  return refuse(at, `${quote(rest.trim())} is shorter than 1 s`, fix)
}

function nickname(words: readonly Word[], refuse: Refuse): Calendar {
  const [{ text, at } = { text: '', at: 1 }, more] = words
  if (more !== undefined && text.toLowerCase() === '@every')
    refuse(
      at,
      `${quote(text)} is not a known nickname`,
      `Use ${quote(['every', ...words.slice(1).map((word) => word.text)].join(' '))}`,
    )
  if (more !== undefined) refuse(more.at, `nothing can follow ${text}`, `Remove ${quote(more.text)}`)
  const name = text.toLowerCase()
  const fields = NICKNAMES[name]
  if (fields !== undefined)
    return calendar(
      fields.split(' ').map((field) => ({ text: field, at })),
      refuse,
    )
  const known = Object.keys(NICKNAMES)
  const near = nearest(name, known)
  const fix = near === undefined ? `Use one of: ${known.join(', ')}` : `Did you mean ${near}?`
  return refuse(at, `${quote(text)} is not a known nickname`, fix)
}

const YEAR = 'has a seventh field, the year, which is not supported'

/** Some cron implementations accept a year at the end; here an expression always means every year. */
function yearFix(text: string): string {
  return text === '*' || text === '?'
    ? 'Omit it: the schedule runs every year without it'
    : 'Omit it, and limit the years with start and end'
}

function calendar(words: readonly Word[], refuse: Refuse): Calendar {
  const names = words.length === FIELD_NAMES.length ? FIELD_NAMES : FIELD_NAMES.slice(1)
  const year = words[FIELD_NAMES.length]
  if (year !== undefined && words.length === FIELD_NAMES.length + 1) refuse(year.at, YEAR, yearFix(year.text))
  if (words.length !== names.length) refuse(placeOf(words), `has ${counted(words.length)}`, EXAMPLES)
  // Without seconds: at second 0.
  const written = names === FIELD_NAMES ? words : [{ text: '0', at: 1 }, ...words]
  const placed = FIELD_NAMES.map((name, index) => ({ name, ...(written[index] ?? { text: '', at: 1 }) }))
  const fields = Object.fromEntries(
    placed.map(({ name, text, at }) => [name, parseField(text, at, FIELDS[name], refuse)]),
  ) as Record<FieldName, Field>
  const eitherDay = !fields.day.hasStar && !fields.weekday.hasStar
  if (!eitherDay && neverIs(fields)) {
    const { at } = placed.find(({ name }) => name === 'day') ?? { at: 1 }
    refuse(at, 'no selected month has this day', 'Use a day that exists, or L for the last day')
  }
  return { type: 'calendar', ...fields, hours: hoursOf(fields.hour), eitherDay }
}

/** The position of the first extra field, or of the end if fields are missing. */
function placeOf(words: readonly Word[]): number {
  const extra = words[FIELD_NAMES.length]
  if (extra !== undefined) return extra.at
  const end = words.at(-1)
  return end === undefined ? 1 : end.at + end.text.length
}

function counted(words: number): string {
  return `${words === 1 ? '1 field' : `${words} fields`} instead of 5 or 6`
}

function hoursOf(hour: Field): Calendar['hours'] {
  if (hour.isFull) return 'every'
  return hour.hasStar ? 'steps' : 'named'
}

const LONGEST_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/**
 * Finds days such as 30 February. No other combination is impossible: 29 February eventually falls on every
 * weekday.
 */
function neverIs({ day, month }: Readonly<Record<FieldName, Field>>): boolean {
  const [earliest = 1] = day.values
  return !day.last && month.values.every((value) => earliest > (LONGEST_MONTHS[value - 1] ?? 0))
}
