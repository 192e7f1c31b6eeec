/** The labels of an application metric: their names, values, and the number of series. */
import { invalidValue, JobmillError } from '../../job/errors.ts'
import { checkString } from '../../job/names.ts'
import { checkObject, checkObjectKeys } from '../../job/options/known-keys.ts'
import type { Labels } from './text.ts'

/** For each name, all possible values, or `true` when they are not known in advance. */
export type CustomMetricLabels = Readonly<Record<string, readonly string[] | true>>

export type CustomMetricLabelValues<L extends CustomMetricLabels> = {
  readonly [Name in keyof L]: L[Name] extends readonly (infer Value extends string)[] ? Value : string
}

/** Bounds the series, so that user input cannot fill the memory of this process or of Prometheus. */
export const MOST_SERIES = 1_000
const MOST_LABELS = 10
const VALUE_CHARS = 200
/** The value that replaces values beyond the bound. */
const OTHER = 'other'

const NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/

export function checkLabels(labels: CustomMetricLabels, field: string, taken: readonly string[]): void {
  checkObject(labels, field, "an object such as { outcome: ['sent', 'failed'] }")
  const entries = Object.entries(labels)
  if (entries.length > MOST_LABELS)
    throw new JobmillError('OPTION_INVALID', `has more than ${MOST_LABELS} labels`, {
      field,
      value: `${entries.length} labels`,
      fix: 'Remove some of the labels',
    })
  for (const [name, values] of entries) {
    if (!NAME.test(name) || taken.includes(name)) {
      const fix = `Use letters, digits and _, and do not start with a digit or __${taken.map((one) => `; ${one} is reserved`).join('')}`
      throw invalidValue(field, name, 'has an invalid label name', fix, 'NAME_INVALID')
    }
    if (values !== true) checkValues(values, `${field}.${name}`)
  }
  const least = entries.reduce((all, [, values]) => all * (values === true ? 1 : values.length), 1)
  if (least > MOST_SERIES) {
    const fix = 'Remove a label or some of its values'
    throw invalidValue(field, least, `creates more than ${MOST_SERIES} series`, fix)
  }
}

function checkValues(values: readonly string[], field: string): void {
  const isList = Array.isArray(values) && values.length > 0 && values.every((one) => isValue(one))
  if (!isList) {
    const fix = `Pass its values, each of 1 to ${VALUE_CHARS} characters, or true when they are not known in advance`
    throw invalidValue(field, values, 'must be true or a list of strings', fix)
  }
  if (new Set(values).size < values.length)
    throw invalidValue(field, values, 'has a duplicate value', 'Pass each value once')
}

const isValue = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= VALUE_CHARS

/** The labels of one series, in declaration order. Rejects values that were not declared. */
export function labelsOf(rules: CustomMetricLabels, given: Labels, field: string): Record<string, string> {
  checkObjectKeys(given, field, Object.keys(rules))
  const labels: Record<string, string> = {}
  for (const [name, values] of Object.entries(rules)) {
    const value = given[name]
    if (values === true) labels[name] = checkString(value, `${field}.${name}`)
    else if (value !== undefined && values.includes(value)) labels[name] = value
    else {
      const fix = `Pass one of ${values.join(', ')}`
      throw invalidValue(`${field}.${name}`, value, 'is not a declared value of this label', fix)
    }
  }
  return labels
}

/** Replaces values that are too many or too long with `other`. Declared values stay. */
function underOther(rules: CustomMetricLabels, labels: Labels): Record<string, string> {
  return Object.fromEntries(
    Object.entries(rules).map(([name, values]) => [name, values === true ? OTHER : (labels[name] ?? '')]),
  )
}

/** Every combination of declared values. Empty if any label is open. */
function declaredSeries(rules: CustomMetricLabels): Labels[] {
  let all: Labels[] = [{}]
  for (const [name, values] of Object.entries(rules))
    all =
      values === true ? [] : all.flatMap((labels) => values.map((value) => ({ ...labels, [name]: value })))
  return all
}

/** Labels are in declaration order, so equal labels have equal keys. */
const keyOf = (labels: Labels): string => JSON.stringify(Object.values(labels))

/** The state of a metric for each of its series. */
export function seriesOf<State>(rules: CustomMetricLabels, field: string, begin: () => State) {
  const kept = new Map<string, { readonly labels: Labels; readonly state: State }>()
  const keep = (labels: Labels): State => {
    const found = kept.get(keyOf(labels))
    if (found !== undefined) return found.state
    const state = begin()
    kept.set(keyOf(labels), { labels, state })
    return state
  }
  for (const labels of declaredSeries(rules)) keep(labels)
  return {
    at(given: Labels): State {
      const labels = labelsOf(rules, given, field)
      const isLong = Object.values(labels).some((value) => value.length > VALUE_CHARS)
      const isFull = kept.size >= MOST_SERIES && !kept.has(keyOf(labels))
      return keep(isLong || isFull ? underOther(rules, labels) : labels)
    },
    all: () => [...kept.values()],
  }
}
