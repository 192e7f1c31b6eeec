/** Checks payloads against a schema before they are stored. */
import { applySchema, expectedPayload, type Schema } from './schema.ts'

/**
 * Validates a payload as the handler will read it: after a round trip through JSON. `text` is the JSON of the
 * payload. Returns a promise only when the schema does, because on SQLite a call in a transaction must write
 * before it returns.
 */
export function checkStored(
  schema: Schema,
  { text, payload }: { readonly text: string; readonly payload: unknown },
  field: string,
  index?: number,
): Promise<unknown> | undefined {
  const checked = applySchema(schema, JSON.parse(text), field, index, () => hintFor(schema, payload))
  return checked instanceof Promise ? checked : undefined
}

const DATES =
  'Use z.iso.datetime() or z.coerce.date() in the schema instead of z.date(): a payload is stored as JSON, where a Date is a string'

function hintFor(schema: Schema, refused: unknown): string | undefined {
  const expected = refused === null ? expectedPayload(schema) : null
  if (expected !== null) return `Pass ${expected}`
  return hasDate(refused) ? DATES : undefined
}

/** Called only for a refused payload that was encoded as JSON before, so it has no cycles. */
function hasDate(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return value instanceof Date || Object.values(value).some(hasDate)
}
