/**
 * Hides secrets after a name and a colon on the same line (headers, YAML, log lines) and after a command
 * option. Values have no quotes here, so prose must be recognized: "password: must have 8 characters" is not
 * a secret.
 */
import { endOf, quotedAt } from './redact-json-value.ts'
import { HIDDEN, type SecretTest, valueOf } from './redact-keys.ts'
import { isPlainWord, isProseWord } from './redact-prose.ts'
import { hideBehind, type Range } from './redact-ranges.ts'

const NAME =
  /(?<![^\s;,|({["'>])(?:([A-Za-z][\w.-]{0,63})[ \t]{0,8}:(?!\/\/)[ \t]{0,8}(?:&[\w.-]{1,64}[ \t]{1,8})?(?=[^\s"'])|(--[A-Za-z][\w.-]{0,63})[ \t]{1,8}(?=[^\s-]))/g

export function hideSettings(text: string, isSecret: SecretTest): string {
  if (!/:|--/.test(text)) return text
  return hideBehind(text, NAME, ([, setting, option], start) => {
    const name = setting ?? option ?? ''
    if (!isSecret(name, '')) return null
    const value = option === undefined ? null : quotedAt(text, start)
    const range = value === null ? secretAt(text, start, name) : { start, ...value }
    return range !== null && isSecret(name, valueOf(text.slice(range.start, range.end))) ? range : null
  })
}

/**
 * A cookie with all its parts: `session=x; theme="dark"`. Repetitions are bounded, because backtracking uses
 * memory.
 */
const COOKIES = /(?=[^\s=;,"']{1,64}=)[^\r\n"']*(?:(?<==)["'][^"'\r\n]*["']?[^\r\n"']*){0,1000}/y
/**
 * A bracket, quote or comma before a letter is part of the value, unless another setting follows the comma.
 */
const WORD =
  /(?=[^\s,;(){}[\]"'<>])[^\s,;(){}[\]"'<>]*(?:(?:[(){}[\]"'<>](?=\w)|[,;](?=\w)(?![\w.-]{1,64}\s{0,8}[:=]))[^\s,;(){}[\]"'<>]*){0,1000}/y

/** The range of the value to hide. Null for prose. */
function secretAt(text: string, start: number, name: string): Range | null {
  if (/cookie$/i.test(name)) {
    const end = endOf(COOKIES, text, start)
    if (end !== null) return { start, end, mark: '' }
  }
  const word = wordAt(text, start)
  if (word === null) return null
  // A scheme whose credentials are hidden already.
  if (/authori[sz]ation$/i.test(name) && text.startsWith(` ${HIDDEN}`, word.end)) return null
  return isProse(text.slice(word.start, word.end), text.slice(word.end, word.end + 2), name) ? null : word
}

function wordAt(text: string, start: number): Range | null {
  const end = text.startsWith(HIDDEN, start) ? null : endOf(WORD, text, start)
  return end === null ? null : { start, end, mark: '' }
}

/** `behind` has the two characters after the word. */
function isProse(word: string, behind: string, name: string): boolean {
  if (isProseWord(word) || !/[\p{L}\p{N}]/u.test(word)) return true
  return isPlainWord(word) && !name.startsWith('-') && /^[ \t][\p{L}\p{N}]/u.test(behind)
}
