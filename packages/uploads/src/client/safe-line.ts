/**
 * Makes untrusted text safe to print on one terminal line. A copy of jobmill's function, because the client
 * needs only Node.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu

export function safeLine(text: string): string {
  return text.replaceAll(UNSAFE, (one) =>
    one === '\n' || one === '\t' ? ' ' : `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
