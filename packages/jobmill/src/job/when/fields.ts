/** The fields of a calendar expression: what each is called, and what it may hold. */

export interface FieldRule {
  /** As messages call it. */
  readonly called: string
  readonly least: number
  readonly most: number
  /** Words for the values from `least` on, the first three letters of each. */
  readonly words: readonly string[]
  /** Whether `L` stands for the last day of the month. */
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

/** In the order in which they are written; the first may be left out. */
export const FIELD_NAMES = ['second', 'minute', 'hour', 'day', 'month', 'weekday'] as const

/** One entry of a list: a value, a range or `*`, each perhaps with a step. */
export interface Part {
  readonly isStar: boolean
  readonly from: number
  readonly to: number
  readonly step: number
}

export interface Field {
  readonly parts: readonly Part[]
  /** What the parts name together, rising. Sunday is 0. */
  readonly values: readonly number[]
  /** Whether a part is `*`, with or without a step: then the field does not count as restricted. */
  readonly hasStar: boolean
  /** Whether every value is named. */
  readonly isFull: boolean
  /** The last day of the month is named. */
  readonly last: boolean
}
