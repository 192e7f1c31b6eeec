/**
 * Makes text of others safe for a terminal or a log: nothing in it can move the cursor, set a title, reorder letters or start a line.
 * Unsafe characters become `\uXXXX`, so JSON that is printed stays valid JSON with the same values.
 */

/** All control characters (C0, DEL, C1), lone surrogates, bidi controls, and the line separators of Unicode. */
const UNSAFE = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu

/** Line feeds and tabs stay. */
export function safeText(text: string): string {
  return text.replaceAll(UNSAFE, (one) =>
    one === '\n' || one === '\t' ? one : `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** On one line: line feeds and tabs become a space, together with the blanks around them. */
export function safeLine(text: string): string {
  const parts = safeText(text).split(/[\t\n]/)
  if (parts.length === 1) return parts.join('')
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(' ')
}

/** Keeps its lines, each after the first indented, so that none of them looks like an entry of its own. */
export function safeLines(text: string, indent = '        '): string {
  return safeText(text).replaceAll('\n', `\n${indent}`)
}
