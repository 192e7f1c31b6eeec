/** Object fields: required, known and unknown ones. */
import { type Checking, inside, isObject, isSchema, type SchemaProblem } from './checking.ts'
import { fits } from './guarded-pattern.ts'

export function objectProblems(
  schema: Readonly<Record<string, unknown>>,
  value: Readonly<Record<string, unknown>>,
  path: string,
  checking: Checking,
): SchemaProblem[] {
  const { required, minProperties, maxProperties } = schema
  const found: SchemaProblem[] = []
  for (const key of Array.isArray(required) ? (required as unknown[]) : [])
    if (typeof key === 'string' && !Object.hasOwn(value, key))
      found.push({ path: inside(path, key), says: 'is required' })
  const keys = Object.keys(value)
  if (typeof minProperties === 'number' && keys.length < minProperties)
    found.push({ path, says: `must have at least ${many(minProperties)}` })
  if (typeof maxProperties === 'number' && keys.length > maxProperties)
    found.push({ path, says: `must have at most ${many(maxProperties)}` })
  for (const key of keys) {
    found.push(...fieldProblems(schema, key, value[key], inside(path, key), checking))
    if (checking.left.steps < 0) break
  }
  return found
}

function fieldProblems(
  schema: Readonly<Record<string, unknown>>,
  key: string,
  value: unknown,
  path: string,
  checking: Checking,
): SchemaProblem[] {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const patterns = isObject(schema['patternProperties']) ? Object.entries(schema['patternProperties']) : []
  const found: SchemaProblem[] = []
  let isKnown = Object.hasOwn(properties, key)
  const own = isKnown ? properties[key] : undefined
  if (isSchema(own)) found.push(...checking.check(own, value, path, checking))
  for (const [pattern, matching] of patterns) {
    const isFit = fits(pattern, key)
    // A pattern with an unknown result might match.
    isKnown ||= isFit !== false
    if (isFit === true && isSchema(matching)) found.push(...checking.check(matching, value, path, checking))
  }
  const { additionalProperties: others } = schema
  if (isKnown || !isSchema(others)) return found
  if (others === false)
    return [...found, { path, says: `is not a known field${nearText(key, Object.keys(properties))}` }]
  return [...found, ...checking.check(others, value, path, checking)]
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/** Catches a different case, different punctuation and a missing ending. */
function nearText(key: string, known: readonly string[]): string {
  const wanted = plain(key)
  const near = known.find(
    (one) => plain(one) === wanted || (wanted.length > 2 && plain(one).startsWith(wanted)),
  )
  return near === undefined ? '' : `; did you mean ${near}?`
}

const many = (n: number): string => `${n} ${n === 1 ? 'field' : 'fields'}`
