/** Parses one field of a cron expression: lists, ranges, steps and names. Each error names its position. */
import { invalidValue, quote } from '../errors.ts'
import type { Field, FieldRule, Part } from './fields.ts'

/** Refuses an expression, with the position of the error. `at` counts characters from 1. */
export type Refuse = (at: number, what: string, fix: string) => never

export function refuseIn(text: string, field: string): Refuse {
  return (at, what, fix) => {
    throw invalidValue(field, text, `${what}, at character ${at}`, fix, 'SCHEDULE_INVALID')
  }
}

interface Place {
  readonly rule: FieldRule
  readonly refuse: Refuse
}

/** `at` is the position of the first character of the field. */
export function parseField(text: string, at: number, rule: FieldRule, refuse: Refuse): Field {
  const place = { rule, refuse }
  const parts: Part[] = []
  let last = false
  let from = at
  for (const item of text.split(',')) {
    if (item === '') refuse(from, `the ${rule.called} has an empty list item`, 'Remove the extra comma')
    if (rule.hasLast && item.toUpperCase() === 'L') last = true
    else parts.push(parsePart(item, from, place))
    from += item.length + 1
  }
  const values = valuesOf(parts, rule)
  return {
    parts,
    values,
    hasStar: parts.some(({ isStar }) => isStar),
    isFull: values.length === rule.most - rule.least + 1,
    last,
  }
}

function parsePart(item: string, at: number, place: Place): Part {
  const slash = item.indexOf('/')
  const body = slash === -1 ? item : item.slice(0, slash)
  const step = slash === -1 ? 1 : parseStep(item.slice(slash + 1), at + slash + 1, place)
  const { rule, refuse } = place
  if (body === '*' || body === '?') return { isStar: true, from: rule.least, to: rule.most, step }
  const dash = body.indexOf('-')
  const from = parseValue(dash === -1 ? body : body.slice(0, dash), at, place)
  if (dash === -1) {
    if (slash === -1) return { isStar: false, from, to: from, step }
    // Some cron implementations read this as the single value, others as a range that starts there.
    const start = from > rule.most ? rule.least : body
    return refuse(at, `a step must follow a range, not ${quote(body)}`, `Use ${start}-${rule.most}/${step}`)
  }
  const [first, second] = [body.slice(0, dash), body.slice(dash + 1)]
  const end = parseValue(second, at + dash + 1, place)
  // A week may end on Sunday: MON-SUN.
  const to = isWeek(rule) && end === 0 && from > 0 && second !== '0' ? 7 : end
  if (from <= to) return { isStar: false, from, to, step }
  return refuse(
    at,
    `the range ${quote(body)} ends before it starts`,
    splitRange(first, second, { from, to, step }, rule),
  )
}

/** The fix for a range that ends before it starts. */
function splitRange(
  first: string,
  second: string,
  { from, to, step }: Pick<Part, 'from' | 'to' | 'step'>,
  { least, most }: FieldRule,
): string {
  // Sunday can be written as 7, but at the start of a range only as 0.
  if (from > most) return `Use ${least}-${second}${step === 1 ? '' : `/${step}`}`
  if (step === 1) return `Use two ranges: ${first}-${most},${least}-${second}`
  const span = most - least + 1
  const count = Math.floor((to + span - from) / step) + 1
  const values = Array.from({ length: count }, (_, n) => least + ((from - least + n * step) % span))
  return `Use a list: ${values.join(',')}`
}

function isWeek(rule: FieldRule): boolean {
  return rule.least === 0 && rule.words.length === 7
}

function parseStep(text: string, at: number, { rule, refuse }: Place): number {
  const step = /^\d{1,4}$/.test(text) ? Number(text) : 0
  const most = rule.most - rule.least
  if (step >= 1 && step <= most) return step
  return refuse(
    at,
    `the step ${quote(text)} of the ${rule.called} must be from 1 to ${most}`,
    step > most ? 'Use an interval for longer times, such as "every 90m"' : 'Use a step such as */5',
  )
}

function parseValue(text: string, at: number, { rule, refuse }: Place): number {
  const word = rule.words.indexOf(text.toUpperCase())
  if (word !== -1) return rule.least + word
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  if (value >= rule.least && value <= rule.most) return value
  // Both 0 and 7 are Sunday.
  if (isWeek(rule) && value === 7) return value
  return refuse(at, `the ${rule.called} ${quote(text)} is invalid`, `Use ${allowed(rule)}`)
}

function allowed({ least, most, words, hasLast }: FieldRule): string {
  const names = words.length === 0 ? '' : `, a name from ${words[0] ?? ''} to ${words.at(-1) ?? ''}`
  const last = hasLast ? ', L for the last day' : ''
  return `a number from ${least} to ${most}${names}${last}, a range, a list, a step such as */5, or *`
}

function valuesOf(parts: readonly Part[], rule: FieldRule): number[] {
  const values = new Set<number>()
  for (const { from, to, step } of parts)
    for (let value = from; value <= to; value += step) values.add(value > rule.most ? rule.least : value)
  return [...values].toSorted((a, b) => a - b)
}
