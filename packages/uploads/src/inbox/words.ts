/** Helpers for error messages. */
import { JobmillError } from 'jobmill'

export { JobmillError }

/** The text of an id. Other texts than ids are left to the caller. */
export function idText(given: unknown, field: string): string {
  if (typeof given === 'string') return given
  throw new JobmillError('OPTION_INVALID', 'must be a string', {
    field,
    value: quote(given),
    fix: `Pass the id of a ${field}`,
  })
}

/** The value, shortened for a message. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 42 ? `${text.slice(0, 41).toWellFormed()}…` : text
}
