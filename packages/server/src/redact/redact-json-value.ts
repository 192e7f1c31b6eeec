/**
 * Finds the end of a JSON value inside a text: quoted, bracketed or a number, even if it is escaped or cut
 * off.
 */

export interface Quoting {
  /** The backslashes before each quote, as in JSON inside JSON. */
  readonly escapes: string
  readonly quote: string
}

export interface JsonValue {
  readonly end: number
  /** The quotes around its replacement. */
  readonly mark: string
}

const QUOTE = /["'`]/
/** Between the lines of a long text. A line break may be escaped. */
const PLUS = /(?:\s|\\{1,8}[nrt]){0,200}\+(?:\s|\\{1,8}[nrt]){0,200}/y
/**
 * What Node prints before brackets (`Config {`, `Map(1) {`, `[Object: null prototype] {`), and Python before
 * quotes (`b'x'`).
 */
const PREFIX =
  /(?:[A-Z][\w$]{0,63}(?:\(\d{1,10}\))? (?:\[[\w.: ()]{1,64}\] )?|\[[\w.: ()]{1,64}\] )(?=\{)|[A-Z][\w$]{0,63}\(\d{1,10}\) (?=\[)|[bruBRU]{1,2}(?=["'])/y
const BUFFER = /<[A-Z]\w{0,63} [^>\r\n]*>?/y

/** Null if no value starts here. Reads nothing from `limit` on, so that callers can bound the time. */
export function jsonValueAt(
  text: string,
  start: number,
  key: Quoting,
  limit = text.length,
): JsonValue | null {
  const { escapes } = key
  const from = withoutPrefix(text, start)
  const first = text[from + escapes.length] ?? ''
  if (QUOTE.test(first) && text.startsWith(escapes, from))
    return {
      end: endOfQuoted(text, from, { escapes, quote: first }, limit),
      mark: `${escapes}${first}`,
    }
  const mark = `${escapes}${key.quote}`
  if (/[[{]/.test(text[from] ?? '')) return { end: endOfBrackets(text, from, key, limit), mark }
  const buffer = endOf(BUFFER, text, start)
  if (buffer !== null) return { end: Math.min(buffer, limit), mark }
  const scalar = endOf(/-?\d[\d.eE+-]*/y, text, start)
  return scalar === null ? null : { end: scalar, mark }
}

/** A quoted value that starts here, even if it is escaped: `'x y'`, `\"x y\"`. */
export function quotedAt(text: string, start: number): JsonValue | null {
  const quoted = /(\\{0,63})["'`]/y
  quoted.lastIndex = start
  const escapes = quoted.exec(text)?.[1]
  return escapes === undefined ? null : jsonValueAt(text, start, { escapes, quote: '"' })
}

/** A quote inside a text in single quotes, as a shell needs it: `'it'\''s'`. It may be escaped. */
const SHELL_QUOTE = /\\{1,8}'(?=')/y

/**
 * The end of a text with its quotes. It continues after a doubled quote (`"a""b"`) and a quote of a shell.
 * Three quotes end only at three.
 */
function endOfQuoted(text: string, start: number, quoting: Quoting, limit: number): number {
  const mark = `${quoting.escapes}${quoting.quote}`
  const triple = mark.repeat(3)
  if (text.startsWith(triple, start)) {
    const end = text.indexOf(triple, start + triple.length)
    return end === -1 ? limit : Math.min(end + triple.length, limit)
  }
  let end = endOfText(text, start + mark.length, quoting, limit)
  while (end < limit) {
    const next = quoting.quote === "'" ? (endOf(SHELL_QUOTE, text, end) ?? end) : end
    if (!text.startsWith(mark, next)) break
    end = endOfText(text, next + mark.length, quoting, limit)
  }
  return end
}

/** The end of a match that starts here. */
export function endOf(pattern: RegExp, text: string, start: number): number | null {
  const from = new RegExp(pattern)
  from.lastIndex = start
  return from.test(text) ? from.lastIndex : null
}

/** The start of the value itself: `{` of `Config {`. */
export function withoutPrefix(text: string, start: number): number {
  return endOf(PREFIX, text, start) ?? start
}

/** The end of the last line of a long text as Node prints it: `'a\n' +` and `'b'`. */
export function endOfLines(text: string, firstEnd: number, { escapes }: Quoting): number {
  let end = firstEnd
  for (;;) {
    const next = endOf(PLUS, text, end)
    if (next === null || !text.startsWith(escapes, next)) return end
    const quote = text[next + escapes.length] ?? ''
    if (!QUOTE.test(quote)) return end
    end = endOfText(text, next + escapes.length + 1, { escapes, quote }, text.length)
  }
}

/** The position after the closing quote, or the end of a text that was cut off. */
export function endOfText(text: string, start: number, quoting: Quoting, limit: number): number {
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
    else if (character !== undefined && QUOTE.test(character) && isDelimiter(text, at, start, quoting))
      at = endOfText(text, at + 1, { ...quoting, quote: character }, limit) - 1
    if (depth === 0) return at + 1
  }
  return limit
}
