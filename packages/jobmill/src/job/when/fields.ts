/** The fields of a cron expression: their names and allowed values. */

export interface FieldRule {
  /** The name in error messages. */
  readonly called: string
  readonly least: number
  readonly most: number
  /** Words for the values from `least` on, the first three letters of each. */
  readonly words: readonly string[]
  /** Whether `L` means the last day of the month. */
  readonly hasLast: boolean
}

export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const
export const WEEKDAYS = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
] as const

const words = (names: readonly string[]): string[] => names.map((name) => name.slice(0, 3).toUpperCase())
const numbers = { words: [], hasLast: false }

export const FIELDS = {
  second: { called: 'second', least: 0, most: 59, ...numbers },
  minute: { called: 'minute', least: 0, most: 59, ...numbers },
  hour: { called: 'hour', least: 0, most: 23, ...numbers },
  day: { called: 'day of the month', least: 1, most: 31, words: [], hasLast: true },
  month: { called: 'month', least: 1, most: 12, words: words(MONTHS), hasLast: false },
  weekday: { called: 'day of the week', least: 0, most: 6, words: words(WEEKDAYS), hasLast: false },
} as const satisfies Readonly<Record<string, FieldRule>>

export type FieldName = keyof typeof FIELDS

/** In the order in which they are written; the first may be omitted. */
export const FIELD_NAMES = ['second', 'minute', 'hour', 'day', 'month', 'weekday'] as const

/** One entry of a list: a value, a range or `*`, each with an optional step. */
export interface Part {
  readonly isStar: boolean
  readonly from: number
  readonly to: number
  readonly step: number
}

export interface Field {
  readonly parts: readonly Part[]
  /** The union of the parts, sorted. Sunday is 0. */
  readonly values: readonly number[]
  /** Whether a part is `*`, with or without a step: the field then does not count as restricted. */
  readonly hasStar: boolean
  /** Whether all values are included. */
  readonly isFull: boolean
  /** Whether the last day of the month is included. */
  readonly last: boolean
}
