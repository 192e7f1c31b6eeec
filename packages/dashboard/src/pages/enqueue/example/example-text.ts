/** Example strings that suit a field, by its format or its name. */

export function exampleText(schema: Readonly<Record<string, unknown>>, name: string, n: number): string {
  const { format, minLength, maxLength } = schema
  const text =
    ofFormat(typeof format === 'string' ? format : formatOf(name), n) ?? `${name || 'text'} ${n + 1}`
  const long = typeof minLength === 'number' ? text.padEnd(minLength, '.') : text
  return typeof maxLength === 'number' ? long.slice(0, Math.max(0, maxLength)) : long
}

function formatOf(name: string): string {
  if (/e-?mail$|^to$/i.test(name)) return 'email'
  if (/ur[il]$|link$/i.test(name)) return 'uri'
  return ''
}

const DAY_MS = 86_400_000
const FIRST_DAY_AT = Date.UTC(2027, 0, 1, 9)

function ofFormat(format: string, n: number): string | undefined {
  const at = new Date(FIRST_DAY_AT + n * DAY_MS).toISOString()
  switch (format) {
    case 'email':
      return `person${n + 1}@example.com`
    case 'uri':
    case 'url':
      return `https://example.com/${n + 1}`
    case 'uuid':
      return `00000000-0000-4000-8000-${String(n + 1).padStart(12, '0')}`
    case 'date-time':
      return at
    case 'date':
      return at.slice(0, 10)
    case 'time':
      return at.slice(11, 19)
    default:
      return undefined
  }
}
