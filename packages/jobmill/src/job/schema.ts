/** Payloads and results held against a schema of the user's: whatever speaks Standard Schema (zod, valibot, arktype, …). */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { alsoNaming, JobmillError, pathOf } from './errors.ts'

export type Schema<Input = unknown, Output = Input> = StandardSchemaV1<Input, Output>

/** What to do about a value that does not fit, where more is known than the schema says. */
type Fix = () => string | undefined

/** Problems that are told; a list of a thousand wrong items need not be. */
const MOST_TOLD = 5

export function isSchema(value: unknown): value is Schema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard: unknown = Reflect.get(value, '~standard')
  return typeof standard === 'object' && standard !== null && 'validate' in standard
}

/** What it takes, as JSON Schema; null when it cannot say. Some can tell (zod from 4.2 on), and not of everything. */
export function jsonSchemaOf(schema: Schema): Record<string, unknown> | null {
  const standard: Partial<StandardJSONSchemaV1.Props> = schema['~standard']
  try {
    const told: unknown = standard.jsonSchema?.input({ target: 'draft-2020-12' })
    // Through text, so that nothing but data comes out.
    return isObject(told) ? (JSON.parse(JSON.stringify(told)) as Record<string, unknown>) : null
  } catch {
    return null
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * What the schema makes of the value, or PAYLOAD_INVALID with every place that does not fit. A promise only when the schema gives one: an
 * enqueue in a transaction on SQLite must have written before it returns.
 */
export function fitted(schema: Schema, value: unknown, field: string, index?: number, fix?: Fix): unknown {
  const verdict = schema['~standard'].validate(value)
  return verdict instanceof Promise
    ? verdict.then((late) => valueOf(late, field, index, fix))
    : valueOf(verdict, field, index, fix)
}

function valueOf(
  verdict: StandardSchemaV1.Result<unknown>,
  field: string,
  index: number | undefined,
  fix: Fix | undefined,
): unknown {
  if (verdict.issues === undefined) return verdict.value
  const [first] = verdict.issues
  // The first place stands in front already.
  const others = verdict.issues
    .slice(1, MOST_TOLD)
    .map((issue) => ({ place: placeOf(field, issue), message: issue.message }))
  const told = [first?.message ?? '', ...others.map(({ place, message }) => `${place}: ${message}`)]
  const left = verdict.issues.length - told.length
  const advice = fix?.()
  const error = new JobmillError(
    'PAYLOAD_INVALID',
    `does not fit its schema: ${told.join('; ')}${left > 0 ? `; … ${left} more` : ''}`,
    {
      field: first === undefined ? field : placeOf(field, first),
      ...(index !== undefined && { index }),
      ...(advice !== undefined && { fix: advice }),
    },
  )
  throw alsoNaming(
    error,
    others.map(({ place }) => place),
  )
}

function placeOf(field: string, issue: StandardSchemaV1.Issue): string {
  return (issue.path ?? []).reduce<string>((path, part) => {
    const key = typeof part === 'object' ? part.key : part
    return typeof key === 'number' ? `${path}[${key}]` : pathOf(path, String(key))
  }, field)
}
