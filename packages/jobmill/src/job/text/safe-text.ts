/**
 * Makes untrusted text safe for a terminal or a log: it cannot move the cursor, set a title, reorder letters
 * or start a line. Unsafe characters become `\uXXXX`, so printed JSON stays valid with the same values.
 */

/**
 * All control characters (C0, DEL, C1), lone surrogates, bidi controls, and the line separators of Unicode.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu

/** Keeps line feeds and tabs. */
export function safeText(text: string): string {
  return text.replaceAll(UNSAFE, (one) =>
    one === '\n' || one === '\t' ? one : `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** On one line: each line feed or tab becomes one space, including the blanks around it. */
export function safeLine(text: string): string {
  const parts = safeText(text).split(/[\t\n]/)
  if (parts.length === 1) return parts.join('')
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(' ')
}

/** Keeps the lines and indents all but the first, so that none of them looks like a separate entry. */
export function safeLines(text: string): string {
  return safeText(text).replaceAll('\n', '\n        ')
}
