/** Describes a cron expression in English: `at 09:00 from Monday to Friday, Europe/Paris time`. */
import { describeTime, namesTimes } from './describe-time.ts'
import { pluralize, joinWords, ordinal } from './english.ts'
import { type Field, MONTHS, type Part, WEEKDAYS } from './fields.ts'
import { type Calendar, parseWhen } from './parse-when.ts'

/** Describes a schedule in words. Without a zone, the text mentions none. */
export function describeWhen(text: string, zone?: string): string {
  const when = parseWhen(text)
  if (when.type === 'interval') return `every ${lengthOf(when.ms)}`
  const days = describeDays(when)
  const time = describeTime(when)
  // A comma separates two phrases of the form "from … to …".
  const comma = time.includes(' from ') && days.startsWith('from ') ? ',' : ''
  const description = days === '' ? time : `${time}${comma} ${days}`
  const isAnywhereTheSame = when.hours === 'every' && days === ''
  if (zone === undefined || isAnywhereTheSame) return description
  return `${description}, ${zone === 'UTC' ? 'UTC' : `${zone} time`}`
}

const UNITS = [
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

function lengthOf(ms: number): string {
  for (const [unit, size] of UNITS) if (ms === size) return unit
  const parts: string[] = []
  let left = ms
  for (const [unit, size] of UNITS) {
    const n = unit === 'second' ? left / size : Math.floor(left / size)
    if (n > 0) parts.push(pluralize(n, unit))
    left -= n * size
  }
  return joinWords(parts)
}

function describeDays(calendar: Calendar): string {
  const { day, month, weekday, eitherDay } = calendar
  const isAnyDay = day.isFull && day.hasStar
  const isAnyWeekday = weekday.isFull && weekday.hasStar
  if (isAnyDay && isAnyWeekday) {
    if (month.isFull) return namesTimes(calendar) ? 'every day' : ''
    return namesTimes(calendar) ? `every day ${inMonths(month)}` : inMonths(month)
  }
  const tail = month.isFull ? '' : ` ${inMonths(month)}`
  if (isAnyDay) return `${onWeekdays(weekday)}${tail}`
  if (isAnyWeekday) return onDays(day, month)
  if (eitherDay) return `${onDays(day, month)}, or ${onWeekdays(weekday)}${tail}`
  return `${onWeekdays(weekday)}, if that is ${onDays(day, month).replace(/^on /, '')}`
}

function onDays(day: Field, month: Field): string {
  const run = runOf(day)
  if (run !== null && run.step > 1)
    return `on every ${ordinal(run.step)} day from the ${ordinal(run.from)} of ${ofMonths(month)}${run.isStar ? '' : ` to the ${ordinal(run.to)}`}`
  if (run !== null) return `from the ${ordinal(run.from)} to the ${ordinal(run.to)} of ${ofMonths(month)}`
  return `on ${theDays(day)} of ${ofMonths(month)}`
}

/** `the 1st, the 15th and the last day`. */
function theDays(day: Field): string {
  const days = day.values.map((value) => `the ${ordinal(value)}`)
  return joinWords(day.last ? [...days, 'the last day'] : days)
}

function onWeekdays(weekday: Field): string {
  const run = runOf(weekday)
  if (run !== null && run.step === 1 && !run.isStar && run.to - run.from > 1)
    return `from ${weekdayName(run.from)} to ${weekdayName(run.to)}`
  // A week starts on Monday.
  const values = weekday.values.toSorted((a, b) => ((a + 6) % 7) - ((b + 6) % 7))
  return `on ${joinWords(values.map(weekdayName))}`
}

function inMonths(month: Field): string {
  const run = runOf(month)
  if (run !== null && run.step === 1) return `from ${monthName(run.from)} to ${monthName(run.to)}`
  return `in ${joinWords(month.values.map(monthName))}`
}

function ofMonths(month: Field): string {
  if (month.isFull) return 'the month'
  const run = runOf(month)
  if (run !== null && run.step === 1) return `each month from ${monthName(run.from)} to ${monthName(run.to)}`
  return joinWords(month.values.map(monthName))
}

/** 7 is Sunday too. */
function weekdayName(value: number): string {
  return WEEKDAYS[value % 7] ?? ''
}

function monthName(value: number): string {
  return MONTHS[value - 1] ?? ''
}

/** The only part of a field, if it covers more than one value. */
function runOf(field: Field): Part | null {
  const [only] = field.parts
  return field.parts.length === 1 && only !== undefined && only.to > only.from && !field.last ? only : null
}
