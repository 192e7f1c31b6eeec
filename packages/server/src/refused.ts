/** Explains why a request does not match its schema: the first problem, with its path in the request. */
import { type RouteConfig, z } from '@hono/zod-openapi'
import type { core } from 'zod'
import { nearest, stateHint } from 'jobmill/internal'
import { quote } from 'jobmill/store'
import { problem } from './problem.ts'

type Issue = core.$ZodIssue

/**
 * `target` is the refused part of the request: `json`, `query` or `param`. `sent` is that part as it was
 * sent.
 */
export function refuseRequest(
  { error, target }: { readonly error: z.ZodError; readonly target: string },
  takes: RouteConfig['request'],
  sent: unknown,
): Response {
  const [issue] = error.issues
  if (issue === undefined) return problem('OPTION_INVALID')
  // A mistyped name is both unknown and missing. The unknown name is the better explanation.
  const unknown = error.issues.map(unknownIn).find((one) => one !== null)
  if (unknown !== undefined) return noSuchField(unknown, partOf(takes, target))
  const field = issue.path.join('.')
  const value = issue.path.reduce(partAt, sent)
  const { detail, fix } = wrongValue(issue, {
    value,
    field: field === '' ? 'a value' : field,
    isParameter: target === 'query',
  })
  return problem('OPTION_INVALID', { detail, fix, ...(field !== '' && { field }) })
}

/** A parameter may hold a list as comma-separated text. */
function partAt(value: unknown, key: PropertyKey): unknown {
  if (typeof value === 'string' && typeof key === 'number') return value.split(',')[key]
  return typeof value === 'object' && value !== null
    ? (value as Record<PropertyKey, unknown>)[key]
    : undefined
}

interface UnknownField {
  readonly path: readonly PropertyKey[]
  readonly key: string
}

/** Finds an unknown field, even inside a union. */
function unknownIn(issue: Issue): UnknownField | null {
  if (issue.code === 'unrecognized_keys') return { path: issue.path, key: issue.keys[0] ?? '' }
  if (issue.code !== 'invalid_union') return null
  const found = issue.errors.flat().map(unknownIn)
  const one = found.find((unknown) => unknown !== null)
  return one === undefined ? null : { path: [...issue.path, ...one.path], key: one.key }
}

function noSuchField({ path, key }: UnknownField, shape: z.ZodType | undefined): Response {
  const known = shape === undefined ? [] : knownFields(shape, path)
  const near = nearest(key, known)
  const those = known.length === 0 ? 'Omit it' : `Use one of ${known.join(', ')}`
  return problem('OPTION_UNKNOWN', {
    detail: `unknown field "${key}"`,
    field: [...path, key].join('.'),
    fix: near === undefined ? those : `Did you mean "${near}"?`,
  })
}

/** The declared schema of this part of the request. */
function partOf(takes: RouteConfig['request'], target: string): z.ZodType | undefined {
  const media = takes?.body?.content['application/json']
  const part =
    target === 'query' ? takes?.query : media !== undefined && 'schema' in media ? media.schema : null
  return part instanceof z.ZodType ? part : undefined
}

/** The parts of a Zod schema that are read here. The properties that are present show its type. */
interface Inside {
  readonly shape?: Readonly<Record<string, Inside>>
  readonly element?: Inside
  readonly options?: readonly Inside[]
  readonly def?: { readonly innerType?: Inside }
}

/** The known fields at a path of a schema; empty if no object is allowed there. */
function knownFields(shape: z.ZodType, path: readonly PropertyKey[]): string[] {
  const places = path.reduce<readonly Inside[]>(
    (found, key) => found.flatMap(bare).flatMap((one) => innerOf(one, key)),
    [shape as Inside],
  )
  return [...new Set(places.flatMap(bare).flatMap((one) => Object.keys(one.shape ?? {})))]
}

/** Unwraps optional and nullable schemas, and lists the alternatives of a union. */
function bare(one: Inside): readonly Inside[] {
  if (one.def?.innerType !== undefined) return bare(one.def.innerType)
  return one.options === undefined
    ? [one]
    : one.options.flatMap((option) => (isShape(option) ? bare(option) : []))
}

/** The options of an enum are strings, not schemas. */
function isShape(option: unknown): option is Inside {
  return typeof option === 'object' && option !== null
}

function innerOf({ shape, element }: Inside, key: PropertyKey): readonly Inside[] {
  const part = typeof key === 'number' ? element : shape?.[String(key)]
  return part === undefined ? [] : [part]
}

/** The value and where it was sent. URL parameters are text, and numbers among them are whole. */
interface SentValue {
  readonly value: unknown
  readonly field: string
  readonly isParameter: boolean
}

function wrongValue(issue: Issue, sent: SentValue): { readonly detail: string; readonly fix: string } {
  const { value, field, isParameter } = sent
  if (value === undefined) return { detail: 'is missing', fix: `Pass ${field}` }
  if (isParameter && Array.isArray(value))
    return { detail: `must appear once (got ${value.length} values)`, fix: `Pass ${field} once` }
  const asked = expectationOf(issue, sent)
  if (asked === null) return { detail: `${issue.message} (got ${quote(value)})`, fix: 'Pass another value' }
  return {
    detail: `must ${asked.verb} ${asked.what} (got ${quote(value)})`,
    fix: asked.fix ?? `Pass ${asked.what}`,
  }
}

interface Asked {
  readonly verb: 'be' | 'have'
  readonly what: string
  /** Omitted if the fix is to pass `what`. */
  readonly fix?: string
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

function expectationOf(issue: Issue, { value, isParameter }: SentValue): Asked | null {
  const isNoNumber = isParameter && typeof value === 'string' && !/^-?\d+$/.test(value)
  switch (issue.code) {
    case 'invalid_type':
      return typeAsked(isParameter && issue.expected === 'number' ? 'int' : issue.expected)
    case 'invalid_value':
      return oneOf(issue.values.map(String), value)
    case 'too_small':
      // An empty parameter counts as 0, but the actual problem is that it is not a number.
      return isNoNumber && issue.origin === 'number'
        ? typeAsked('int')
        : amount(issue.origin, 'at least', issue.minimum)
    case 'too_big':
      return amount(issue.origin, 'at most', issue.maximum)
    case 'invalid_union':
      return anyOf(issue)
    default:
      return null
  }
}

/** For a job state of another library, such as `failed`, names ours. */
function oneOf(values: readonly string[], value: unknown): Asked {
  const fix = values.includes('dead') ? stateHint(value) : undefined
  return { verb: 'be', what: `one of ${values.join(', ')}`, ...(fix !== undefined && { fix }) }
}

function typeAsked(expected: string): Asked | null {
  const what = TYPES[expected]
  return what === undefined ? null : { verb: 'be', what }
}

const COUNTED: Readonly<Record<string, string>> = { string: 'character', array: 'item', set: 'item' }

function amount(origin: string, bound: string, most: number | bigint): Asked {
  const counted = COUNTED[origin]
  if (counted === undefined) return { verb: 'be', what: `${bound} ${most}` }
  return { verb: 'have', what: `${bound} ${most} ${counted}${Number(most) === 1 ? '' : 's'}` }
}

/** Lists all types that a union accepts. */
function anyOf(issue: Extract<Issue, { code: 'invalid_union' }>): Asked | null {
  const types = issue.errors.map(([first]) =>
    first?.code === 'invalid_type' && first.path.length === 0 ? TYPES[first.expected] : undefined,
  )
  const known = [...new Set(types)].filter((one) => one !== undefined)
  return known.length === 0 ? null : { verb: 'be', what: known.join(' or ') }
}
