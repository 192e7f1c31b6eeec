/** What is wrong with a request by its shape: the first thing, by its path in what was sent. */
import { type RouteConfig, z } from '@hono/zod-openapi'
import type { core } from 'zod'
import { nearest } from '../job/known-keys.ts'
import { knownFields } from './known-fields.ts'
import { problem } from './problem.ts'

export interface Refusal {
  readonly error: z.ZodError
  /** Which part of the request: `json`, `query`, `param`. */
  readonly target: string
}

type Issue = core.$ZodIssue

export function refused({ error, target }: Refusal, takes: RouteConfig['request']): Response {
  const [issue] = error.issues
  if (issue === undefined) return problem('OPTION_INVALID')
  // A name that is mistyped is unknown, and what it stands for is missing: the first says more.
  const unknown = error.issues.map(unknownIn).find((one) => one !== null)
  if (unknown !== undefined) return noSuchField(unknown, partOf(takes, target))
  const field = issue.path.join('.')
  if (issue.code === 'invalid_type' && issue.input === undefined && field !== '')
    return problem('OPTION_INVALID', { detail: 'is missing', field, fix: `Give ${field}` })
  return problem('OPTION_INVALID', { detail: issue.message, ...(field !== '' && { field }) })
}

interface UnknownField {
  readonly path: readonly PropertyKey[]
  readonly key: string
}

/** Also where it could have been something else than an object. */
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
  const those = known.length === 0 ? 'Leave it out' : `Known are ${known.join(', ')}`
  return problem('OPTION_UNKNOWN', {
    detail: `there is no field "${key}" here`,
    field: [...path, key].join('.'),
    fix: near === undefined ? those : `Did you mean "${near}"?`,
  })
}

/** What the route says of this part. */
function partOf(takes: RouteConfig['request'], target: string): z.ZodType | undefined {
  const media = takes?.body?.content['application/json']
  const part =
    target === 'query' ? takes?.query : media !== undefined && 'schema' in media ? media.schema : null
  return part instanceof z.ZodType ? part : undefined
}
