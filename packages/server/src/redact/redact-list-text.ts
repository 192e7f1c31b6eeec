/**
 * Hides secrets in lists inside a text: pairs (`[["password","x"]]`) and command arguments
 * (`["--password","x"]`).
 */
import { jsonValueAt, withoutPrefix } from './redact-json-value.ts'
import { type SecretTest, valueOf } from './redact-keys.ts'
import { hideRanges, type Range } from './redact-ranges.ts'

/** The first text of a nested list or tuple, or an option anywhere in a list, with the comma after it. */
const FIRST =
  /(?:(?<=[[,(]\s{0,8})([[(])\s{0,8})?(\\{0,63})(["'])(-{0,2}[^"'\\\s=-][^"'\\\s=]{0,63})\2\3\s{0,8},\s{0,8}/g

export function hideInLists(text: string, isSecret: SecretTest): string {
  if (!text.includes(',')) return text
  const firsts = new RegExp(FIRST)
  const ranges: Range[] = []
  for (let first = firsts.exec(text); first !== null; first = firsts.exec(text)) {
    const [, bracket, escapes = '', quote = '"', name = ''] = first
    const isOption = name.startsWith('-')
    if ((bracket === undefined && !isOption) || !isSecret(name, '')) continue
    const start = firsts.lastIndex
    // The rules for parsed lists apply: the argument of an option is a string, and a pair has two elements.
    // The first character decides before the value is read, because nested brackets would be read again for
    // each level. For the same reason, nested values of pairs are always hidden.
    const isNested = /[[{]/.test(text[withoutPrefix(text, start)] ?? '')
    if (isOption && (isNested || /[\d-]/.test(text[start] ?? ''))) continue
    const value = jsonValueAt(text, start, { escapes, quote })
    if (value === null || (!isOption && !isNested && !isLast(text, value.end))) continue
    if (!isSecret(name, valueOf(text.slice(start, value.end)))) continue
    ranges.push({ start, ...value })
    firsts.lastIndex = value.end
  }
  return hideRanges(text, ranges)
}

function isLast(text: string, end: number): boolean {
  return /^\s{0,8}(?:[\])]|$)/.test(text.slice(end, end + 9))
}
