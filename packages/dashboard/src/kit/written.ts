/** What people type into fields of forms: read, or said what is wrong with it. Empty means that it is left out. */
import { durationError, parseDuration } from './duration.ts'

export type Read<T> = { readonly value: T | undefined } | { readonly wrong: string }

/** As the server takes it: `90s`, `1h30m`. */
export function durationOf(text: string): Read<string> {
  const given = text.replaceAll(/\s+/g, '')
  if (given === '') return { value: undefined }
  // How long it may be the server knows.
  return parseDuration(given) === null ? { wrong: durationError(given) ?? '' } : { value: given }
}

export function wholeOf(text: string, { least, most }: { least: number; most: number }): Read<number> {
  const given = text.trim()
  if (given === '') return { value: undefined }
  const value = Number(given)
  if (!Number.isInteger(value)) return { wrong: 'Not a whole number.' }
  return value < least || value > most ? { wrong: `Give a number from ${least} to ${most}.` } : { value }
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/-]*$/

/** Of a kind, a queue, a schedule. */
export function nameOf(text: string): Read<string> {
  const given = text.trim()
  if (given === '') return { value: undefined }
  if (NAME.test(given)) return { value: given }
  return { wrong: 'Use letters, digits and . _ : / - and begin with a letter or digit.' }
}

/** As the field for a day and a time writes it, in the zone of this device. */
export function instantOf(text: string): Read<number> {
  if (text === '') return { value: undefined }
  const at = Date.parse(text)
  return Number.isNaN(at) ? { wrong: 'Not a day and time.' } : { value: at }
}

/** The other way round: what such a field shows. */
export function fieldText(at: number | null): string {
  if (at === null) return ''
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 19)
}

/** Between commas, each once. */
export function tagsOf(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim())
  return [...new Set(tags.filter((tag) => tag !== ''))]
}

/** What was typed into several fields, each by its name: all of it, or what is wrong where. */
export function gathered<Name extends string>(
  reads: Readonly<Record<Name, Read<unknown>>>,
): { readonly values: Partial<Record<Name, unknown>>; readonly wrong: Partial<Record<Name, string>> } {
  const values: Partial<Record<Name, unknown>> = {}
  const wrong: Partial<Record<Name, string>> = {}
  for (const [name, read] of Object.entries(reads) as [Name, Read<unknown>][]) {
    if ('wrong' in read) wrong[name] = read.wrong
    else if (read.value !== undefined) values[name] = read.value
  }
  return { values, wrong }
}
