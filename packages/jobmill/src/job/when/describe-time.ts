/**
 * Describes the time of day of a cron expression in English: `at 09:00`, `every 15 minutes from 09:00 to
 * 17:59`.
 */
import { pluralize, joinWords, ordinal, twoDigits } from './english.ts'
import type { Field, Part } from './fields.ts'
import type { Calendar } from './parse-when.ts'

/** More single times than this are described as hours and minutes. */
const MOST_TIMES = 6
/** A longer range is described by its ends. */
const MOST_NAMED = 4

export function describeTime(calendar: Calendar): string {
  return atTimes(calendar) ?? throughHours(calendar) ?? `${rate(calendar)}${within(calendar)}`
}

/** Whether the description names single times, so that it must also mention the days. */
export function namesTimes(calendar: Calendar): boolean {
  return atTimes(calendar) !== null
}

/** `at 09:00 and 17:30`. */
function atTimes({ hours, hour, minute, second }: Calendar): string | null {
  if (hours !== 'named' && stepOf(hour, 24) !== null) return null
  if (minute.hasStar || second.values.length > 1 || runOf(hour, MOST_NAMED) !== null) return null
  if (hour.values.length * minute.values.length > MOST_TIMES) return null
  const times = hour.values.flatMap((h) => minute.values.map((m) => clock(h, m, second)))
  return `at ${joinWords(times)}`
}

/** `every hour`, `every 2 hours at minute 15`, `every hour from 09:30 to 17:30`. */
function throughHours({ hours, hour, minute, second }: Calendar): string | null {
  if (minute.values.length > 1 || second.values.length > 1) return null
  const [m = 0] = minute.values
  const [s = 0] = second.values
  const run = hours === 'named' ? runOf(hour, MOST_NAMED) : null
  if (run !== null)
    return `every ${many(run.step, 'hour')} from ${clock(run.from, m, second)} to ${clock(lastOf(run), m, second)}`
  const step = hours === 'named' ? null : stepOf(hour, 24)
  if (step === null) return null
  const offset = m === 0 ? '' : ` at minute ${m}`
  return `every ${many(step, 'hour')}${offset}${s === 0 ? '' : `${offset === '' ? ' at' : ' and'} second ${s}`}`
}

/** How often it runs within the hours. */
function rate({ hours, minute, second }: Calendar): string {
  const everyHour = hours === 'every' ? 'every hour ' : ''
  if (isZero(second)) return often(minute, 'minute', everyHour)
  if (second.values.length === 1 && !minute.isFull)
    return `${often(minute, 'minute', everyHour)}, at second ${second.values[0] ?? 0}`
  const seconds = often(second, 'second', 'every minute ')
  if (minute.isFull) return seconds
  const step = stepOf(minute, 60)
  if (step !== null) return `${seconds}, in every ${ordinal(step)} minute`
  return `${seconds}, in ${named(minute, 'minute')}${everyHour === '' ? '' : ' of every hour'}`
}

/** `every 5 minutes`, `every minute from 10 to 20`, `at minutes 5 and 35`. */
function often(field: Field, unit: 'minute' | 'second', otherwise: string): string {
  const step = stepOf(field, 60)
  if (step !== null) return `every ${many(step, unit)}`
  const [only] = field.parts
  if (field.parts.length === 1 && only !== undefined && field.values.length > MOST_NAMED)
    return `every ${many(only.step, unit)} from ${unit} ${only.from} to ${lastOf(only)}`
  return `${otherwise}at ${named(field, unit)}`
}

function named(field: Field, unit: string): string {
  return `${unit}${field.values.length === 1 ? '' : 's'} ${joinWords(field.values.map(String))}`
}

/** Which hours of the day, unless it is all of them. */
function within({ hours, hour }: Calendar): string {
  if (hours === 'every') return ''
  const run = runOf(hour, 1)
  if (run !== null && run.step === 1) return ` from ${twoDigits(run.from)}:00 to ${twoDigits(run.to)}:59`
  return ` in the hours ${joinWords(hour.values.map((h) => `${twoDigits(h)}:00`))}`
}

/** The only part of a field, if it covers at least this many values. */
function runOf(field: Field, least: number): Part | null {
  const [only] = field.parts
  if (field.parts.length !== 1 || only === undefined || only.isStar) return null
  return field.values.length >= least ? only : null
}

function lastOf({ from, to, step }: Part): number {
  return from + Math.floor((to - from) / step) * step
}

/** The step of a `*` field (1 if it has none); null if it does not divide the round evenly. */
function stepOf(field: Field, round: number): number | null {
  if (field.isFull) return 1
  const [only] = field.parts
  if (field.parts.length !== 1 || only === undefined || !only.isStar) return null
  return round % only.step === 0 ? only.step : null
}

function many(n: number, unit: string): string {
  return n === 1 ? unit : pluralize(n, unit)
}

function isZero(second: Field): boolean {
  return second.values.length === 1 && second.values[0] === 0
}

function clock(hour: number, minute: number, second: Field): string {
  const seconds = isZero(second) ? '' : `:${twoDigits(second.values[0] ?? 0)}`
  return `${twoDigits(hour)}:${twoDigits(minute)}${seconds}`
}
