/** Explains why a request does not match its schema: the first problem, with its path in the request. */
import { type RouteConfig, z } from '@hono/zod-openapi'
import type { core } from 'zod'
import { nearest } from 'jobmill/internal'
import { knownFields } from './known-fields.ts'
import { problem } from './problem.ts'
import { wrongValue } from './wrong-value.ts'

export interface Refusal {
  readonly error: z.ZodError
  /** The part of the request: `json`, `query` or `param`. */
  readonly target: string
}

type Issue = core.$ZodIssue

/** `sent` is the part of the request as it was sent. */
export function refuseRequest(
  { error, target }: Refusal,
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

/** Finds an unknown field, also inside a union. */
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
