/** Helpers for error messages. */
export { JobmillError } from 'jobmill'

/** The value, shortened for a message. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 42 ? `${text.slice(0, 41).toWellFormed()}…` : text
}
