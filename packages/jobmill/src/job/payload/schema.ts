/**
 * Validates payloads and results against a Standard Schema (zod, valibot, arktype, …), and says what a schema
 * expects.
 */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { invalidValue, JobmillError, OTHER, pathOf } from '../errors.ts'

export type Schema<Input = unknown, Output = Input> = StandardSchemaV1<Input, Output>

/** A more specific fix for an invalid value, where one is known. */
type Fix = () => string | undefined

/** How many problems an error lists at most. */
const MOST_LISTED = 5

function isSchema(value: unknown): value is Schema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard: unknown = Reflect.get(value, '~standard')
  return typeof standard === 'object' && standard !== null && 'validate' in standard
}

export function checkSchema(value: unknown, field: string): Schema {
  if (isSchema(value)) return value
  const fix = 'Pass a Standard Schema, such as z.object({ … }) from Zod 4 or v.object({ … }) from Valibot 1'
  throw invalidValue(field, value, 'must be a schema', fix)
}

/**
 * The input of a schema as JSON Schema; null if the library cannot export it. Some can (zod from 4.2 on), but
 * not for every type.
 */
export function jsonSchemaOf(schema: Schema): Record<string, unknown> | null {
  const standard: Partial<StandardJSONSchemaV1.Props> = schema['~standard']
  try {
    const exported: unknown = standard.jsonSchema?.input({ target: 'draft-2020-12' })
    // A round trip through text, so that the result is plain data.
    return isObject(exported) ? (JSON.parse(JSON.stringify(exported)) as Record<string, unknown>) : null
  } catch {
    return null
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The output of the schema for this value, or PAYLOAD_INVALID with the invalid places. Returns a promise only
 * when the schema does, because on SQLite an enqueue in a transaction must write before it returns.
 */
export function applySchema(
  schema: Schema,
  value: unknown,
  field: string,
  index?: number,
  fix?: Fix,
): unknown {
  const verdict = schema['~standard'].validate(value)
  return verdict instanceof Promise
    ? verdict.then((late) => valueOf(late, field, index, fix))
    : valueOf(verdict, field, index, fix)
}

/** The first place that the schema refuses, as a JSON pointer such as `/items/0/amount`. Null for none. */
export async function firstIssue(
  schema: Schema,
  value: unknown,
): Promise<{ readonly at: string; readonly message: string } | null> {
  const { issues } = await schema['~standard'].validate(value)
  const [first] = issues ?? []
  if (first === undefined) return null
  const keys = (first.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part))
  const at = keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  return { at, message: first.message }
}

function valueOf(
  verdict: StandardSchemaV1.Result<unknown>,
  field: string,
  index: number | undefined,
  fix: Fix | undefined,
): unknown {
  if (verdict.issues === undefined) return verdict.value
  const [first] = verdict.issues
  // The field of the error already names the first place.
  const others = verdict.issues
    .slice(1, MOST_LISTED)
    .map((issue) => ({ place: placeOf(field, issue), message: issue.message }))
  const messages = [first?.message ?? '', ...others.map(({ message }) => `${OTHER}: ${message}`)]
  const left = verdict.issues.length - messages.length
  const advice = fix?.()
  throw new JobmillError(
    'PAYLOAD_INVALID',
    `does not match its schema: ${messages.join('; ')}${left > 0 ? `; … ${left} more` : ''}`,
    {
      field: first === undefined ? field : placeOf(field, first),
      others: others.map(({ place }) => place),
      ...(index !== undefined && { index }),
      ...(advice !== undefined && { fix: advice }),
    },
  )
}

function placeOf(field: string, issue: StandardSchemaV1.Issue): string {
  return (issue.path ?? []).reduce<string>((path, part) => {
    const key = typeof part === 'object' ? part.key : part
    return typeof key === 'number' ? `${path}[${key}]` : pathOf(path, String(key))
  }, field)
}

type Json = Readonly<Record<string, unknown>>

/** How many fields of an object the error names at most. */
const MOST_NAMED = 8

/** The error for a missing payload of a kind that has a schema: says what the schema expects. */
export function missingPayload(schema: Schema, field: string, index: number): JobmillError {
  const expected = expectedPayload(schema)
  return new JobmillError('PAYLOAD_INVALID', `is missing${expected === null ? issueOf(schema) : ''}`, {
    field,
    index,
    fix: expected === null ? 'Pass a payload that matches the schema of the kind' : `Pass ${expected}`,
  })
}

/**
 * `an object with to (string), cc (string, optional)`. Null if the schema has no single type, or if its
 * library exports no JSON Schema.
 */
export function expectedPayload(given: Schema): string | null {
  const schema = jsonSchemaOf(given) ?? {}
  const type = typeOf(schema)
  if (type !== 'object') return type === null ? null : withArticle(type)
  const fields = Object.entries(asJson(schema['properties']))
  if (fields.length === 0) return 'an object'
  const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : []
  const named = fields.slice(0, MOST_NAMED).map(([name, part]) => {
    const about = [typeOf(asJson(part)), required.includes(name) ? null : 'optional'].filter(Boolean)
    return about.length === 0 ? name : `${name} (${about.join(', ')})`
  })
  return `an object with ${named.join(', ')}${fields.length > MOST_NAMED ? ', …' : ''}`
}

function typeOf({ type }: Json): string | null {
  return typeof type === 'string' ? type : null
}

function asJson(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}

function withArticle(type: string): string {
  if (type === 'null') return type
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}

/** What the schema itself says. An asynchronous schema answers too late for this message. */
function issueOf(schema: Schema): string {
  const verdict = schema['~standard'].validate(undefined)
  if (verdict instanceof Promise) {
    verdict.catch(() => {})
    return ''
  }
  const message = verdict.issues?.[0]?.message
  return message === undefined ? '' : `: ${message}`
}
