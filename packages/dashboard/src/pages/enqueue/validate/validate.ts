/**
 * Validates a value against the common part of JSON Schema (draft 2020-12) while the user types. Unknown
 * keywords are ignored. The server decides, and may still refuse a value.
 */
import { type Checking, isObject, type Schema, type SchemaProblem } from './checking.ts'
import { combinationProblems } from './combinations.ts'
import { listProblems } from './lists.ts'
import { numberProblems } from './numbers.ts'
import { objectProblems } from './objects.ts'
import { resolveReference } from './reference.ts'
import { textProblems } from './texts.ts'
import { isEqual, typeProblems } from './types.ts'
import { printJson } from './checking.ts'

const MOST_STEPS = 20_000
const DEEPEST = 100
const MOST_PROBLEMS = 100

export function problemsOf(schema: Schema, value: unknown): SchemaProblem[] {
  const checking = { root: schema, left: { steps: MOST_STEPS }, depth: 0, check }
  return check(schema, value, '', checking).slice(0, MOST_PROBLEMS)
}

function check(schema: Schema, value: unknown, path: string, before: Checking): SchemaProblem[] {
  if (schema === false) return [{ path, says: 'is not allowed' }]
  const checking = { ...before, depth: before.depth + 1 }
  checking.left.steps -= 1
  if (schema === true || checking.left.steps < 0 || checking.depth > DEEPEST) return []
  const wrongType = typeProblems(schema, value, path)
  // Further checks would only repeat the type error.
  if (wrongType.length > 0) return wrongType
  return [
    ...fixedProblems(schema, value, path),
    ...(typeof value === 'string' ? textProblems(schema, value, path) : []),
    ...(typeof value === 'number' ? numberProblems(schema, value, path) : []),
    ...(Array.isArray(value) ? listProblems(schema, value, path, checking) : []),
    ...(isObject(value) ? objectProblems(schema, value, path, checking) : []),
    ...combinationProblems(schema, value, path, checking),
    ...referenceProblems(schema, value, path, checking),
  ]
}

function fixedProblems(
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
  path: string,
): SchemaProblem[] {
  if ('const' in schema && !isEqual(schema['const'], value))
    return [{ path, says: `must be ${printJson(schema['const'])}` }]
  const { enum: allowed } = schema
  if (Array.isArray(allowed) && !allowed.some((one) => isEqual(one, value)))
    return [
      {
        path,
        says: `must be one of ${allowed.slice(0, 12).map(printJson).join(', ')}${allowed.length > 12 ? ', …' : ''}`,
      },
    ]
  return []
}

function referenceProblems(
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
  path: string,
  checking: Checking,
): SchemaProblem[] {
  const { $ref } = schema
  const target = typeof $ref === 'string' ? resolveReference(checking.root, $ref) : undefined
  return target === undefined ? [] : check(target, value, path, checking)
}
