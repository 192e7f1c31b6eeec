/**
 * Formats an error and its causes as one text that fits in a row. Truncation keeps the first line and the
 * root cause.
 */
import { DEFAULTS } from '../defaults.ts'

/** How many causes are shown; a longer chain shows the first ones and the root. */
const MOST_CAUSES = 10
/** For an AggregateError: how many of its errors are shown, and how deep they may nest. */
const MOST_GATHERED = 10
const MOST_NESTED = 3
/** How far a cyclic or endless chain of causes is followed. */
const DEEPEST = 1_000

/** `Error: could not send\n  caused by: Error: connect ECONNREFUSED` … at most `limit` characters. */
export function errorText(error: unknown, limit: number = DEFAULTS.errorLimitChars): string {
  const causes = chain(error)
  const lines = causes.map(
    (cause, depth) => `${depth === 0 ? '' : '  caused by: '}${storable(oneError(cause, []))}`,
  )
  const left = lines.length - MOST_CAUSES
  if (left > 0) lines.splice(MOST_CAUSES - 1, left, `  … ${left} more …`)
  return shortened(lines, limit)
}

function chain(error: unknown): unknown[] {
  const found = new Set<unknown>([error])
  let next = causeOf(error)
  while (next !== undefined && next !== null && !found.has(next) && found.size < DEEPEST) {
    found.add(next)
    next = causeOf(next)
  }
  return [...found]
}

function causeOf(error: unknown): unknown {
  try {
    return isError(error) ? error.cause : undefined
  } catch {
    return undefined
  }
}

/** Also accepts errors of another realm, as test runners and `vm` create them. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]'
}

function oneError(error: unknown, around: readonly unknown[]): string {
  // Anything can be thrown. The failure must be written even when reading the error throws.
  try {
    if (!isError(error)) return asText(typeof error === 'object' ? JSON.stringify(error) : error)
    const message = asText(error.message)
    const text = message === '' ? asText(error.name) : `${asText(error.name)}: ${message}`
    const inner = 'errors' in error && Array.isArray(error.errors) ? error.errors : []
    return inner.length === 0 ? text : `${text} [${gathered(inner, [...around, error])}]`
  } catch {
    return 'unreadable error'
  }
}

/** Formats the errors of an AggregateError. */
function gathered(errors: readonly unknown[], around: readonly unknown[]): string {
  if (around.length > MOST_NESTED) return '…'
  const texts = errors
    .slice(0, MOST_GATHERED)
    .map((one) => (around.includes(one) ? '…' : oneError(one, around)))
  const left = errors.length - texts.length
  return [...texts, ...(left > 0 ? [`… ${left} more`] : [])].join('; ')
}

/** Names and messages are strings by type only, and a symbol would throw in a template. */
function asText(value: unknown): string {
  return String(value)
}

/** Makes any text safe to store. The default limit is that of a stored error. */
export function storableText(text: string, limit: number = DEFAULTS.errorLimitChars): string {
  return cut(storable(text), limit)
}

/** Removes what a database refuses in a text. */
function storable(text: string): string {
  return text.replaceAll('\u0000', '\u{fffd}').toWellFormed()
}

function shortened(lines: readonly string[], limit: number): string {
  const whole = lines.join('\n')
  if (whole.length <= limit) return whole
  if (lines.length === 1) return cut(whole, limit)
  const before = lines.slice(0, -1).join('\n')
  // The root cause gets half, plus what the other causes leave of the rest.
  const root = cut(`\n${lines.at(-1) ?? ''}`, Math.max(Math.floor(limit / 2), limit - before.length))
  return cut(before, limit - root.length) + root
}

/** At most `length` characters, ending in … when truncated. A surrogate pair is never split. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text
  if (length <= 0) return ''
  const part = text.slice(0, length - 1)
  return `${part.isWellFormed() ? part : part.slice(0, -1)}…`
}
