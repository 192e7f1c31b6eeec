/**
 * Hides secrets after a name and a colon on the same line (headers, YAML, log lines) and after a command
 * option. Values have no quotes here, so prose must be recognized: "password: must have 8 characters" is not
 * a secret.
 */
import { HIDDEN, type SecretTest, valueOf } from './redact-keys.ts'
import { hideRanges, type Range } from './redact-ranges.ts'

const NAME =
  /(?<![^\s;,|({["'>])(?:([A-Za-z][\w.-]{0,63})[ \t]{0,8}:(?!\/\/)[ \t]{0,8}(?:&[\w.-]{1,64}[ \t]{1,8})?|(--[A-Za-z][\w.-]{0,63})[ \t]{1,8}(?!-))(?=[^\s"'])/g

export function hideSettings(text: string, isSecret: SecretTest): string {
  if (!/:|--/.test(text)) return text
  const names = new RegExp(NAME)
  const ranges: Range[] = []
  for (let found = names.exec(text); found !== null; found = names.exec(text)) {
    const name = found[1] ?? found[2] ?? ''
    if (!isSecret(name, '')) continue
    const value = secretAt(text, names.lastIndex, name)
    if (value === null || !isSecret(name, valueOf(text.slice(value.start, value.end)))) continue
    ranges.push({ ...value, mark: '' })
    names.lastIndex = value.end
  }
  return hideRanges(text, ranges)
}

interface Place {
  readonly start: number
  readonly end: number
}

/**
 * A cookie with all its parts: `session=x; theme="dark"`. Repetitions are bounded, because backtracking uses
 * memory.
 */
const COOKIES = /(?=[^\s=;,"']{1,64}=)[^\r\n"']*(?:(?<==)["'][^"'\r\n]*["']?[^\r\n"']*){0,1000}/y
const SCHEME = /(?:basic|bearer|token|negotiate|ntlm|api-?key|dpop)[ \t]{1,8}/iy
/** Schemes whose parameters are separated by commas and blanks. */
const LONG_SCHEME = /(?:digest|hawk|aws4-hmac-sha256|signature|oauth)[ \t]{1,8}[^\r\n]*/iy
/**
 * A bracket, quote or comma before a letter is part of the value, unless another setting follows the comma.
 */
const WORD =
  /(?=[^\s,;(){}[\]"'<>])[^\s,;(){}[\]"'<>]*(?:(?:[(){}[\]"'<>](?=\w)|[,;](?=\w)(?![\w.-]{1,64}\s{0,8}[:=]))[^\s,;(){}[\]"'<>]*){0,1000}/y

/** The range of the value to hide. Null for prose. */
function secretAt(text: string, start: number, name: string): Place | null {
  if (/cookie$/i.test(name)) {
    const end = endOf(COOKIES, text, start)
    if (end !== null) return { start, end }
  }
  if (/authori[sz]ation$/i.test(name)) {
    const end = endOf(LONG_SCHEME, text, start)
    if (end !== null) return { start, end }
    const behind = endOf(SCHEME, text, start)
    if (behind !== null) return wordAt(text, behind)
  }
  const word = wordAt(text, start)
  if (word === null) return null
  return isProse(text.slice(word.start, word.end), text.slice(word.end, word.end + 2), name) ? null : word
}

function wordAt(text: string, start: number): Place | null {
  const end = text.startsWith(HIDDEN, start) ? null : endOf(WORD, text, start)
  return end === null ? null : { start, end }
}

function endOf(pattern: RegExp, text: string, start: number): number | null {
  const from = new RegExp(pattern)
  from.lastIndex = start
  return from.test(text) ? from.lastIndex : null
}

/** Words that describe a secret. As passwords they are too weak to be worth hiding. */
const PROSE_WORDS =
  /^(?:a|an|and|are|as|at|bad|by|can|cannot|changed|correct|deleted|denied|do|does|empty|expired|failed|flag|for|from|given|has|hidden|if|in|incorrect|invalid|is|it|its|malformed|may|mismatch|missing|must|no|none|not|now|of|ok|on|option|or|present|provided|refused|rejected|removed|required|revoked|set|shown|should|than|that|the|this|to|too|unexpected|unknown|unset|updated|use|valid|was|were|will|with|without|wrong|yes|you|your)[.!?…]*$/i

/** `behind` holds the two characters after the word. */
function isProse(word: string, behind: string, name: string): boolean {
  if (PROSE_WORDS.test(word) || !/[\p{L}\p{N}]/u.test(word)) return true
  // Words of a sentence contain no digits, inner capitals or punctuation.
  if (/\d|\p{Ll}\p{Lu}|[^\p{L}.!?…'’-]/u.test(word) || word.length >= 20) return false
  return !name.startsWith('-') && /^[ \t][\p{L}\p{N}]/u.test(behind)
}
