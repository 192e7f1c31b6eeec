/** Validates the names of queues and kinds, keys, tags and ids. */
import { BOUNDS } from './defaults.ts'
import { JobmillError, quote } from './errors.ts'
import type { Fix } from './fixes.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/-]*$/
// oxlint-disable-next-line no-control-regex -- control characters are what this refuses
const CONTROL = /[\u0000-\u001f\u007f]/

/**
 * The name of a queue or a kind. It appears in environment variables, URLs and metrics, so only plain
 * characters are allowed.
 */
export function checkName(value: unknown, field: string): string {
  if (typeof value !== 'string' || value === '') {
    throw new JobmillError('NAME_INVALID', 'must be a non-empty string', {
      field,
      value: quote(value),
      fix: 'Pass a string such as "email.send"',
    })
  }
  if (value.length > BOUNDS.nameChars) {
    throw new JobmillError('NAME_INVALID', `has ${value.length} characters, more than ${BOUNDS.nameChars}`, {
      field,
      value: quote(value),
      fix: 'Shorten it',
    })
  }
  if (!NAME.test(value)) {
    throw new JobmillError('NAME_INVALID', 'contains an invalid character', {
      field,
      value: quote(value),
      fix: 'Use letters, digits and . _ : / - and begin with a letter or digit',
    })
  }
  return value
}

/** Any string: for names that are only compared, and for texts that are made storable later. */
export function checkString(value: unknown, field: string, fix = 'Pass a string'): string {
  if (typeof value === 'string') return value
  throw new JobmillError('OPTION_INVALID', 'must be a string', { field, value: quote(value), fix })
}

/** A name to look up. PostgreSQL cannot compare a text with these characters, and no name contains them. */
export function checkSoughtName(value: unknown, field: string): string {
  const name = checkString(value, field)
  if (!name.includes('\u0000') && name.isWellFormed()) return name
  const what = name.includes('\u0000') ? 'the character U+0000' : 'a lone surrogate'
  throw new JobmillError('NAME_INVALID', `contains ${what}`, {
    field,
    value: quote(name),
    fix: 'Remove this character: no name contains it',
  })
}

/** A dedupe key, an order key, a tag or the key of a limit: any text on one line. */
export function checkKey(value: unknown, field: string, mostChars: number = BOUNDS.keyChars): string {
  if (typeof value !== 'string' || value === '') {
    throw new JobmillError('NAME_INVALID', 'must be a non-empty string', {
      field,
      value: quote(value),
      fix: 'Pass a string such as "customer-42"',
    })
  }
  if (value.length > mostChars) {
    throw new JobmillError('NAME_INVALID', `has ${value.length} characters, more than ${mostChars}`, {
      field,
      value: quote(value),
      fix: 'Shorten it, or use a hash of it',
    })
  }
  if (CONTROL.test(value) || !value.isWellFormed()) {
    throw new JobmillError('NAME_INVALID', 'has a control character or a lone surrogate', {
      field,
      value: quote(value),
      fix: 'Use printable text',
    })
  }
  return value
}

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const UUID_FIX = 'Pass the whole id: 32 hex digits as 8-4-4-4-12'
/** The fix for an invalid id of a new job. A caller that passes a name wants a dedupe key. */
export const NEW_ID_FIX: Fix = { code: 'id.dedupe-key' }

/** Ids are compared as text, so they are normalized to lower case. */
export function checkId(value: unknown, field: string, fix: string | Fix = UUID_FIX): string {
  const id = typeof value === 'string' ? value.toLowerCase() : ''
  if (!UUID.test(id)) {
    throw new JobmillError('ID_INVALID', 'must be a UUID', {
      field,
      value: quote(value),
      fix,
    })
  }
  return id
}
