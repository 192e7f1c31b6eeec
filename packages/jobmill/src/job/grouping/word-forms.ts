/** Whether a word of a message is constant, by how it is written. */

/** Chinese, Japanese and Korean: no capitals, and few spaces. */
export const CJK = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u
/** `NOT_FOUND`, `PRECONDITION-FAILED`. */
export const CONSTANT_CODE = /^[A-Z][A-Z\d]+(?:_[A-Z\d]+)+$|^[A-Z]{4,}-[A-Z]{4,}$/
/** `order.recipient`, `postalCode`, `channel_not_found`. */
export const IDENTIFIER = /[._]|[a-z][A-Z]|^[A-Z]{2,}[_-]/

/** Lower-case words, codes and identifiers. Other words may be names. */
export function isConstant(word: string): boolean {
  if (/^\p{Ll}[\p{Ll}\p{M}'’-]*$/u.test(word)) return true
  if (/^(?:E[A-Z]{4,}|[A-Z]+(?:[_-][A-Z]+)+|[A-Z]{6,})$/.test(word)) return true
  if (/^[\p{Ll}$_][\p{L}$_]*(?:[._][\p{L}$_]+)+$/u.test(word)) return true
  if (/^[A-Za-z][a-z]+(?:[A-Z][a-z]+)+$/.test(word)) return isCamelCase(word)
  return CJK.test(word)
}

/** Words in camel case, and not random letters: every word has a vowel, and most have three letters. */
function isCamelCase(word: string): boolean {
  const parts = word.split(/(?=[A-Z])/)
  return parts.every((part) => /[aeiouy]/i.test(part)) && word.length >= parts.length * 3
}

/** Letters that are not a word: hex digits, or letters without a vowel. */
export function isRandomWord(word: string): boolean {
  return /^[a-f]{4,}$/.test(word) || /^[bcdfghjklmnpqrstvwxz]{4,}$/.test(word)
}

/** In lower case, without the ending of an English plural. */
export function singular(word: string): string {
  const lower = word.toLowerCase().replace(/['’]$/, '')
  if (/[^aeiou]ies$/.test(lower)) return lower.replace(/ies$/, 'y')
  return lower.length > 3 ? lower.replace(/(?:(?<=ss|x|ch|sh)es|(?<!s)s)$/, '') : lower
}
