/** What the library says of a wrong value, in our words. */
export { JobmillError } from 'jobmill'

/** What was given, short enough for a message. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 42 ? `${text.slice(0, 41).toWellFormed()}…` : text
}
