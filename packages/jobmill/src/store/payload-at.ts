/** Filters on values inside payloads: the value at a path, compared as text. */
import { BOUNDS } from '../job/defaults.ts'
import { invalidValue, JobmillError } from '../job/errors.ts'
import { checkArray } from '../job/numbers.ts'
import { checkObjectKeys } from '../job/options/known-keys.ts'
import { valueAt } from '../job/payload/value-at.ts'

export interface PayloadAt {
  /** Object keys and array indexes, outermost first. */
  readonly path: readonly string[]
  /** The string at the path, or the JSON text of a number, true, false or null. */
  readonly value: string
}

const EXAMPLE = 'Pass a path, a colon and a value, such as user.id:42'

/**
 * Parses `user.id:42` into a path and a value, separated by the first colon. A backslash escapes a dot, colon
 * or backslash in a key. Before any other character it is literal.
 */
export function readPayloadAt(text: string, field: string): PayloadAt {
  const path = ['']
  let at = 0
  for (; at < text.length && text[at] !== ':'; at += 1) {
    if (text[at] === '.') {
      path.push('')
      continue
    }
    if (text[at] === '\\' && /[.:\\]/.test(text[at + 1] ?? '')) at += 1
    path[path.length - 1] += text[at] ?? ''
  }
  if (at >= text.length) throw invalidValue(field, text, 'has no colon', EXAMPLE)
  if (at === 0) throw invalidValue(field, text, 'has no path before its colon', EXAMPLE)
  return checkOne({ path, value: text.slice(at + 1) }, field)
}

export function checkPayloadAt(all: readonly PayloadAt[], field: string): readonly PayloadAt[] {
  checkArray(all, field)
  if (all.length > BOUNDS.soughtValues) throw tooMuch(field, all.length, BOUNDS.soughtValues, 'values')
  return all.map((one: PayloadAt, at) => checkOne(one, `${field}[${at}]`))
}

function checkOne(one: PayloadAt, field: string): PayloadAt {
  checkObjectKeys(one, field, ['path', 'value'])
  const { path, value } = one
  if (!Array.isArray(path) || path.length === 0) {
    const fix = 'Pass the parts of the path, such as ["user", "id"]'
    throw invalidValue(`${field}.path`, path, 'must be a non-empty array', fix)
  }
  if (path.length > BOUNDS.soughtParts)
    throw tooMuch(`${field}.path`, path.length, BOUNDS.soughtParts, 'parts')
  for (const [at, part] of path.entries()) checkSought(part, `${field}.path[${at}]`, 0)
  checkSought(value, `${field}.value`, 0)
  return one
}

/** Validates a search text, so that every database accepts it. */
export function checkSought(text: unknown, field: string, least = 1): string {
  if (typeof text !== 'string')
    throw invalidValue(field, text, 'must be a string', "Pass a string; for the number 42, pass '42'")
  if (text.length < least)
    throw invalidValue(field, text, 'must not be empty', 'Pass a non-empty string, or omit it')
  if (text.length > BOUNDS.soughtChars) throw tooMuch(field, text.length, BOUNDS.soughtChars, 'characters')
  if (text.includes('\u0000') || !text.isWellFormed())
    throw invalidValue(field, text, 'contains a character that cannot be stored', 'Remove it')
  return text
}

function tooMuch(field: string, got: number, most: number, of: string): JobmillError {
  return new JobmillError('OPTION_INVALID', `has more than ${most} ${of}`, {
    field,
    value: `${got} ${of}`,
    fix: `Pass at most ${most}`,
  })
}

/** Whether a payload (JSON text) has all of these values. */
export function hasAll(payload: string, sought: readonly PayloadAt[]): boolean {
  const value: unknown = JSON.parse(payload)
  return sought.every((one) => textAt(value, one.path) === one.value)
}

/** Null if the path does not exist or leads to an object or array. */
function textAt(value: unknown, path: readonly string[]): string | null {
  const at = valueAt(value, path)
  if (typeof at === 'string') return at
  return at === undefined || (typeof at === 'object' && at !== null) ? null : JSON.stringify(at)
}
