/**
 * Hides values of secret keys in JSON that is only a part of a text, was escaped, or was cut off, so that it cannot be parsed. Objects as Node and Python print
 * them (`{ password: 'x' }`) are found too. Each character is read a bounded number of times.
 */
import { HIDDEN, type SecretTest, valueOf } from './redact-keys.ts'

/** A key in quotes, which may be escaped, or a plain name before a value in quotes; with the colon behind it. */
const KEY =
  /(\\{0,63})(["'])([^"'\\\s]{1,64})\1\2\s{0,8}:\s{0,8}|(?<![\w"'\\-])([\w-]{1,64}):\s{1,8}(?=["'])/g

export function hideInJson(text: string, isSecret: SecretTest): string {
  if (!text.includes(':')) return text
  const keys = new RegExp(KEY)
  const parts: string[] = []
  let from = 0
  for (let key = keys.exec(text); key !== null; key = keys.exec(text)) {
    const [, escapes = '', quote = '"', quoted, plain = ''] = key
    const name = quoted ?? plain
    // By the name first: the end of a value is looked for only where it will be hidden, or else the same brackets would be read again for every key.
    if (!isSecret(name, '')) continue
    const value = valueAt(text, keys.lastIndex, { escapes, quote })
    if (value === null || !isSecret(name, valueOf(text.slice(keys.lastIndex, value.end)))) continue
    parts.push(text.slice(from, keys.lastIndex), `${value.mark}${HIDDEN}${value.mark}`)
    from = value.end
    keys.lastIndex = from
  }
  return from === 0 ? text : `${parts.join('')}${text.slice(from)}`
}

interface Quoting {
  /** The backslashes before each quote: JSON inside of JSON has some. */
  readonly escapes: string
  readonly quote: string
}

interface Value {
  readonly end: number
  /** What its replacement is put into. */
  readonly mark: string
}

function valueAt(text: string, start: number, key: Quoting): Value | null {
  const { escapes } = key
  const first = text[start + escapes.length] ?? ''
  if (/["']/.test(first) && text.startsWith(escapes, start))
    return {
      end: endOfText(text, start + escapes.length + 1, { escapes, quote: first }),
      mark: `${escapes}${first}`,
    }
  const mark = `${escapes}${key.quote}`
  if (/[[{]/.test(text[start] ?? '')) return { end: endOfBrackets(text, start, key), mark }
  const scalar = /-?\d[\d.eE+-]*/y
  scalar.lastIndex = start
  return scalar.test(text) ? { end: scalar.lastIndex, mark } : null
}

/** Behind the closing quote, or the end of a text that was cut off. */
function endOfText(text: string, start: number, quoting: Quoting): number {
  for (let at = text.indexOf(quoting.quote, start); at !== -1; at = text.indexOf(quoting.quote, at + 1))
    if (isDelimiter(text, at, start, quoting)) return at + 1
  return text.length
}

/**
 * Written as JSON n times, a quote has 2ⁿ-1 backslashes before it, and each character of the value that has to be escaped has 2ⁿ: so what remains of a
 * delimiter once pairs of escaped backslashes are taken away are its own backslashes.
 */
function isDelimiter(text: string, at: number, start: number, { escapes: { length } }: Quoting): boolean {
  let backslashes = 0
  while (at - backslashes > start && text[at - backslashes - 1] === '\\') backslashes += 1
  return backslashes % (2 * (length + 1)) === length
}

function endOfBrackets(text: string, start: number, quoting: Quoting): number {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    const character = text[at]
    if (character === '[' || character === '{') depth += 1
    else if (character === ']' || character === '}') depth -= 1
    else if (character === quoting.quote && isDelimiter(text, at, start, quoting))
      at = endOfText(text, at + 1, quoting) - 1
    if (depth === 0) return at + 1
  }
  return text.length
}
