/** Finds the end of a JSON value inside a text: quoted, bracketed or a number, also if escaped or cut off. */

export interface Quoting {
  /** The backslashes before each quote, which JSON inside JSON has. */
  readonly escapes: string
  readonly quote: string
}

export interface JsonValue {
  readonly end: number
  /** The quotes around its replacement. */
  readonly mark: string
}

/** Null if no value starts here. Reads nothing from `limit` on, so that callers can bound the time. */
export function jsonValueAt(
  text: string,
  start: number,
  key: Quoting,
  limit = text.length,
): JsonValue | null {
  const { escapes } = key
  const first = text[start + escapes.length] ?? ''
  if (/["']/.test(first) && text.startsWith(escapes, start))
    return {
      end: endOfText(text, start + escapes.length + 1, { escapes, quote: first }, limit),
      mark: `${escapes}${first}`,
    }
  const mark = `${escapes}${key.quote}`
  if (/[[{]/.test(text[start] ?? '')) return { end: endOfBrackets(text, start, key, limit), mark }
  const scalar = /-?\d[\d.eE+-]*/y
  scalar.lastIndex = start
  return scalar.test(text) ? { end: scalar.lastIndex, mark } : null
}

/** The position after the closing quote, or the end of a text that was cut off. */
function endOfText(text: string, start: number, quoting: Quoting, limit: number): number {
  for (let at = start; at < limit; at += 1)
    if (text[at] === quoting.quote && isDelimiter(text, at, start, quoting)) return at + 1
  return limit
}

/**
 * After n levels of JSON encoding, a delimiter has 2ⁿ-1 backslashes before it, and an escaped character of
 * the value has 2ⁿ more. So removing pairs of escaped backslashes leaves the delimiter's own ones.
 */
function isDelimiter(text: string, at: number, start: number, { escapes: { length } }: Quoting): boolean {
  let backslashes = 0
  while (at - backslashes > start && text[at - backslashes - 1] === '\\') backslashes += 1
  return backslashes % (2 * (length + 1)) === length
}

function endOfBrackets(text: string, start: number, quoting: Quoting, limit: number): number {
  let depth = 0
  for (let at = start; at < limit; at += 1) {
    const character = text[at]
    if (character === '[' || character === '{') depth += 1
    else if (character === ']' || character === '}') depth -= 1
    else if (character === quoting.quote && isDelimiter(text, at, start, quoting))
      at = endOfText(text, at + 1, quoting, limit) - 1
    if (depth === 0) return at + 1
  }
  return limit
}
