/** Validates the names of queues and kinds, keys, tags and ids. */
import { BOUNDS } from './defaults.ts'
import { invalidValue } from './errors.ts'
import type { Fix } from './fixes.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/-]*$/
// oxlint-disable-next-line no-control-regex -- control characters are what this refuses
const CONTROL = /[\u0000-\u001f\u007f]/

/**
 * The name of a queue or a kind. It appears in environment variables, URLs and metrics, so only plain
 * characters are allowed.
 */
export function checkName(value: unknown, field: string): string {
  const text = checkLength(value, field, BOUNDS.nameChars, ['"email.send"', 'Shorten it'])
  if (NAME.test(text)) return text
  const fix = 'Use letters, digits and . _ : / -, and start with a letter or digit'
  throw invalidValue(field, value, 'is not a valid name', fix, 'NAME_INVALID')
}

function checkLength(
  value: unknown,
  field: string,
  mostChars: number,
  [example, shorten]: readonly [example: string, shorten: string],
): string {
  if (typeof value !== 'string' || value === '') {
    const fix = `Pass a string such as ${example}`
    throw invalidValue(field, value, 'must be a non-empty string', fix, 'NAME_INVALID')
  }
  if (value.length <= mostChars) return value
  const what = `has ${value.length} characters, more than ${mostChars}`
  throw invalidValue(field, value, what, shorten, 'NAME_INVALID')
}

/** Any string: for names that are only compared, and for texts that are made storable later. */
export function checkString(value: unknown, field: string, fix = 'Pass a string'): string {
  if (typeof value === 'string') return value
  throw invalidValue(field, value, 'must be a string', fix)
}

/** A name to look up. PostgreSQL cannot compare a text with these characters, and no name contains them. */
export function checkSoughtName(value: unknown, field: string): string {
  const name = checkString(value, field)
  if (!name.includes('\u0000') && name.isWellFormed()) return name
  const what = name.includes('\u0000') ? 'the character U+0000' : 'a lone surrogate'
  const fix = 'Remove this character: names cannot contain it'
  throw invalidValue(field, name, `contains ${what}`, fix, 'NAME_INVALID')
}

/** A dedupe key, an order key, a tag or the key of a limit: any text on one line. */
export function checkKey(value: unknown, field: string, mostChars: number = BOUNDS.keyChars): string {
  const text = checkLength(value, field, mostChars, ['"customer-42"', 'Shorten it, or use a hash of it'])
  if (!CONTROL.test(text) && text.isWellFormed()) return text
  const what = 'has a control character or a lone surrogate'
  throw invalidValue(field, value, what, 'Use printable text', 'NAME_INVALID')
}

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const UUID_FIX = 'Pass the whole id: 32 hex digits as 8-4-4-4-12'
/** The fix for an invalid id of a new job. A caller that passes a name wants a dedupe key. */
export const NEW_ID_FIX: Fix = { code: 'id.dedupe-key' }

/** Ids are compared as text, so they are normalized to lower case. */
export function checkId(value: unknown, field: string, fix: string | Fix = UUID_FIX): string {
  const id = typeof value === 'string' ? value.toLowerCase() : ''
  if (!UUID.test(id)) {
    throw invalidValue(field, value, 'must be a UUID', fix, 'ID_INVALID')
  }
  return id
}
