/** Parses the text of form fields, or says what is wrong with it. An empty field is omitted. */
import { durationError, parseDuration } from './duration.ts'

export type ParseResult<T> = { readonly value: T | undefined } | { readonly wrong: string }

/** Parses a duration in the server's format: `90s`, `1h30m`. */
export function durationOf(text: string): ParseResult<string> {
  const given = text.replaceAll(/\s+/g, '')
  if (given === '') return { value: undefined }
  // The server checks the allowed range.
  return parseDuration(given) === null ? { wrong: durationError(given) ?? '' } : { value: given }
}

export function wholeOf(text: string, { least, most }: { least: number; most: number }): ParseResult<number> {
  const given = text.trim()
  if (given === '') return { value: undefined }
  const value = Number(given)
  if (!Number.isInteger(value)) return { wrong: 'Enter a whole number.' }
  return value < least || value > most ? { wrong: `Enter a number from ${least} to ${most}.` } : { value }
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/-]*$/

/** The name of a kind, a queue or a schedule. */
export function nameOf(text: string): ParseResult<string> {
  const given = text.trim()
  if (given === '') return { value: undefined }
  if (NAME.test(given)) return { value: given }
  return { wrong: 'Use letters, digits and . _ : / - and start with a letter or digit.' }
}

/** The value of a datetime-local field, in this device's time zone. */
export function instantOf(text: string): ParseResult<number> {
  if (text === '') return { value: undefined }
  const at = Date.parse(text)
  return Number.isNaN(at) ? { wrong: 'Enter a date and time.' } : { value: at }
}

/** The inverse: the value that a datetime-local field shows. */
export function fieldText(at: number | null): string {
  if (at === null) return ''
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 19)
}

/** Comma-separated and deduplicated. */
export function tagsOf(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim())
  return [...new Set(tags.filter((tag) => tag !== ''))]
}

/** Parses several fields, by name: all values, or the errors by field. */
export function collectFields<Name extends string>(
  reads: Readonly<Record<Name, ParseResult<unknown>>>,
): { readonly values: Partial<Record<Name, unknown>>; readonly wrong: Partial<Record<Name, string>> } {
  const values: Partial<Record<Name, unknown>> = {}
  const wrong: Partial<Record<Name, string>> = {}
  for (const [name, read] of Object.entries(reads) as [Name, ParseResult<unknown>][]) {
    if ('wrong' in read) wrong[name] = read.wrong
    else if (read.value !== undefined) values[name] = read.value
  }
  return { values, wrong }
}
