/** String lengths, patterns and formats. */
import type { SchemaProblem } from './checking.ts'
import { fits } from './guarded-pattern.ts'

export function textProblems(
  schema: Readonly<Record<string, unknown>>,
  value: string,
  path: string,
): SchemaProblem[] {
  const { minLength, maxLength, pattern, format } = schema
  const found: SchemaProblem[] = []
  // JSON Schema counts characters, not UTF-16 units.
  const length = Array.from(value).length
  if (typeof minLength === 'number' && length < minLength)
    found.push({
      path,
      says: minLength === 1 ? 'must not be empty' : `must have at least ${minLength} characters`,
    })
  if (typeof maxLength === 'number' && length > maxLength)
    found.push({ path, says: `must have at most ${maxLength} characters` })
  const isKnownFormat = typeof format === 'string' && Object.hasOwn(FORMATS, format)
  if (isKnownFormat && FORMATS[format]?.test(value) === false)
    found.push({ path, says: `must be ${FORMAT_NAMES[format] ?? format}` })
  // A format is easier to understand than its pattern, so report only the format.
  else if (!isKnownFormat && typeof pattern === 'string' && fits(pattern, value) === false)
    found.push({ path, says: `must match ${pattern.length > 80 ? `${pattern.slice(0, 79)}…` : pattern}` })
  return found
}

/** Permissive formats: what they reject, every validator rejects. */
const FORMATS: Readonly<Record<string, RegExp>> = {
  email: /^[^\s@]+@[^\s@]+$/,
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  date: /^\d{4}-\d{2}-\d{2}$/,
  'date-time': /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/i,
  uri: /^[a-z][a-z0-9+.-]*:/i,
}

const FORMAT_NAMES: Readonly<Record<string, string>> = {
  email: 'an email address',
  uuid: 'a UUID',
  date: 'a date such as 2027-01-31',
  'date-time': 'a date-time such as 2027-01-31T09:00:00Z',
  uri: 'a URL such as https://example.com',
}
