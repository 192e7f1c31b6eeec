/** The error for a missing payload of a kind that has a schema: says what the schema expects. */
import { JobmillError } from '../errors.ts'
import { jsonSchemaOf, type Schema } from './schema.ts'

type Json = Readonly<Record<string, unknown>>

/** How many fields of an object the error names at most. */
const MOST_NAMED = 8

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
