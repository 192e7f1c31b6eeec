/** Groups errors: two errors are the same if their kind and the shape of their message match. */
import { createHash } from 'node:crypto'
import { constantsOf, shapeOf } from './shape.ts'

const HASH_DIGITS = 16

export const FINGERPRINT = /^[0-9a-f]{16}$/

export function fingerprintOf(kind: string, error: string | null) {
  const shape = shapeOf(error ?? '')
  const hash = createHash('sha256')
    .update(`${kind}\n${comparable(shape)}`)
    .digest('hex')
  return { fingerprint: hash.slice(0, HASH_DIGITS), shape }
}

/** Later words are details. */
const MOST_WORDS = 12
const LEAST_WORDS = 3
/** The first sentence with more words than this is enough. */
const ENOUGH_WORDS = 4

const WORDS = /[\p{L}_$][\p{L}\p{M}_$.\d'’-]*|<[a-z]+>|\d+/gu

/**
 * What errors with the same cause have in common: lower-case words, identifiers, and error codes. Other words
 * may be names, and the number of placeholders may depend on a value.
 */
function comparable(shape: string): string {
  const words = wordsOf(shape).slice(0, MOST_WORDS)
  // Libraries wrap errors, so the class counts only for an error that says little else.
  return (words.length > LEAST_WORDS ? words.slice(1) : words).join(' ')
}

function wordsOf(shape: string): string[] {
  const words: string[] = []
  for (const { 0: word, index } of shape.matchAll(WORDS)) {
    if (words.length > ENOUGH_WORDS && endsBefore(shape, index)) break
    if (word.startsWith('<') || word === 'None' || isValue(shape, index, word)) continue
    const startsClause = index === 0 || /[:.!?([{]\s?$/.test(shape.slice(Math.max(0, index - 2), index))
    if (startsClause || isConstant(word)) words.push(singular(word.toLowerCase().replace(/[.'’]$/, '')))
  }
  return words
}

/** Whether a sentence ended before this word, or the word is in parentheses without a code or a name. */
function endsBefore(shape: string, at: number): boolean {
  if (/[.;!?)][ ,][^\p{L}]*$/u.test(shape.slice(Math.max(0, at - 12), at))) return true
  return /[(][^\p{L}]*$/u.test(shape.slice(Math.max(0, at - 3), at)) && !IN_PARENTHESES.test(shape.slice(at))
}

const IN_PARENTHESES =
  /^(?:reading|setting|evaluating|code|error ?code|status|[a-z]+\/[a-z]|[A-Z][A-Za-z]+[A-Z_]|["'`])/

const UNIT =
  /^(?:ms|s|sec|secs|seconds?|minutes?|min|mins|hours?|h|days?|d|weeks?|kb|mb|gb|kib|mib|gib|bytes?|b)$/i

/** The rest of an id, or the unit of a number. */
function isValue(shape: string, from: number, word: string): boolean {
  const to = from + word.length
  if (shape[from - 1] === '>' || shape[to] === '<') return true
  return UNIT.test(word) && shape.slice(0, from).endsWith('<n> ')
}

function isConstant(word: string): boolean {
  if (/^\p{Ll}[\p{Ll}\p{M}'’-]*\.?$/u.test(word) || /^\d+$/.test(word)) return true
  // Codes such as ECONNREFUSED and NOT_FOUND, and names such as order.recipient, camelCase and snake_case.
  if (/^(?:E[A-Z]{4,}|[A-Z]+(?:[_-][A-Z]+)+|[A-Z]{6,})$/.test(word)) return true
  if (/^[\p{Ll}$_][\p{L}$_]*(?:[._][\p{L}$_]+)+$/u.test(word) || /^[a-z]+(?:[A-Z][a-z]+)+$/.test(word))
    return true
  if (/^[A-Z][a-z]+(?:[A-Z][a-z]+)+$/.test(word)) return true
  return /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u.test(word)
}

function singular(word: string): string {
  return word.length > 3 ? word.replace(/(?:(?<=ss|x|ch|sh)es|(?<!s)s)$/, '') : word
}

/** The constant parts of the shape that occur in the error, longest first. */
export function literalsOf(shape: string, error: string): string[] {
  return constantsOf(shape)
    .filter((part) => part !== '' && error.includes(part))
    .toSorted((a, b) => b.length - a.length)
}
