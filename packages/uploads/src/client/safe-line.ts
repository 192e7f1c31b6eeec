/** Text of others on one line that a terminal cannot be steered with. As jobmill has it; the client needs nothing but Node. */
const UNSAFE = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu

export function safeLine(text: string): string {
  return text.replaceAll(UNSAFE, (one) =>
    one === '\n' || one === '\t' ? ' ' : `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
