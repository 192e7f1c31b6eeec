/**
 * Hides secrets in lists inside a text: pairs (`[["password","x"]]`) and command arguments
 * (`["--password","x"]`).
 */
import { jsonValueAt, withoutPrefix } from './redact-json-value.ts'
import { type SecretTest, valueOf } from './redact-keys.ts'
import { hideBehind } from './redact-ranges.ts'

/** The first text of a nested list or tuple, or an option anywhere in a list, with the comma after it. */
const FIRST =
  /(?:(?<=[[,(]\s{0,8})([[(])\s{0,8})?(\\{0,63})(["'])(-{0,2}[^"'\\\s=-][^"'\\\s=]{0,63})\2\3\s{0,8},\s{0,8}/g

export function hideInLists(text: string, isSecret: SecretTest): string {
  if (!text.includes(',')) return text
  return hideBehind(text, FIRST, ([, bracket, escapes = '', quote = '"', name = ''], start) => {
    const isOption = name.startsWith('-')
    if ((bracket === undefined && !isOption) || !isSecret(name, '')) return null
    // The rules for parsed lists apply: the argument of an option is a string, and a pair has two elements.
    // The first character decides before the value is read, because nested brackets would be read again for
    // each level. For the same reason, nested values of pairs are always hidden.
    const isNested = /[[{]/.test(text[withoutPrefix(text, start)] ?? '')
    if (isOption && (isNested || /[\d-]/.test(text[start] ?? ''))) return null
    const value = jsonValueAt(text, start, { escapes, quote })
    if (value === null || (!isOption && !isNested && !isLast(text, value.end))) return null
    return isSecret(name, valueOf(text.slice(start, value.end))) ? { start, ...value } : null
  })
}

function isLast(text: string, end: number): boolean {
  return /^\s{0,8}(?:[\])]|$)/.test(text.slice(end, end + 9))
}
