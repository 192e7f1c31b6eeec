/** Types of values and their names. */
import { isObject, type SchemaProblem } from './checking.ts'

const NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
}

const TESTS: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  object: isObject,
  array: (value) => Array.isArray(value),
  null: (value) => value === null,
}

export function typeProblems(
  { type }: Readonly<Record<string, unknown>>,
  value: unknown,
  path: string,
): SchemaProblem[] {
  const allowed: readonly unknown[] = Array.isArray(type) ? type : [type]
  const known = allowed.filter((one): one is string => typeof one === 'string' && Object.hasOwn(TESTS, one))
  // An unknown type counts as matching.
  if (known.length === 0 || known.length < allowed.length) return []
  if (known.some((one) => TESTS[one]?.(value))) return []
  return [{ path, says: wrongType(value, known) }]
}

export function wrongType(value: unknown, allowed: readonly string[]): string {
  return `must be ${allowed.map((one) => NAMES[one]).join(' or ')}, not ${nameOf(value)}`
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'boolean') return String(value)
  return NAMES[typeof value] ?? typeof value
}

/** JSON equality: the order of keys does not matter. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one, at) => isEqual(one, b[at]))
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
  )
}
