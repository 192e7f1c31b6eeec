/**
 * Hides secrets in the headers of a Node request inside a text: names and values in turn, as in
 * `rawHeaders: ['Authorization', 'x', …]`.
 */
import { endOf, quotedAt } from './redact-json-value.ts'
import type { SecretTest } from './redact-keys.ts'
import { hideRanges, type Range } from './redact-ranges.ts'

const LIST = /(?<![\w-])rawHeaders(?:\\{0,63}["'])?\s{0,8}(?::|=>?)\s{0,8}\[/g
/** Between two texts of the list. A line break may be escaped. */
const BETWEEN = /(?:[\s,]|\\{1,8}[nrt]){0,200}/y

export function hideRawHeaders(text: string, isSecret: SecretTest): string {
  if (!text.includes('rawHeaders')) return text
  const lists = new RegExp(LIST)
  const ranges: Range[] = []
  while (lists.test(text)) {
    let name: string | null = null
    for (;;) {
      const start = endOf(BETWEEN, text, lists.lastIndex) ?? lists.lastIndex
      const value = quotedAt(text, start)
      if (value === null) break
      lists.lastIndex = value.end
      const content = text.slice(start + value.mark.length, value.end - value.mark.length)
      if (name !== null && isSecret(name, content)) ranges.push({ start, ...value })
      name = name === null ? content : null
    }
  }
  return hideRanges(text, ranges)
}
