/** Decodes keys from the bytes that a terminal sends in raw mode. */

const KEYS = {
  '\u001B[A': 'up',
  '\u001BOA': 'up',
  k: 'up',
  '\u001B[B': 'down',
  '\u001BOB': 'down',
  j: 'down',
  '\u001B[5~': 'page-up',
  '\u001B[6~': 'page-down',
  ' ': 'page-down',
  '\u001B[H': 'first',
  '\u001B[1~': 'first',
  g: 'first',
  '\u001B[F': 'last',
  '\u001B[4~': 'last',
  G: 'last',
  '\r': 'enter',
  '\n': 'enter',
  '\u001B[C': 'enter',
  '\u001B': 'back',
  '\u001B[D': 'back',
  '\u007F': 'back',
  '\b': 'back',
  p: 'pause',
  '?': 'help',
  q: 'quit',
  '\u0003': 'quit',
  '\u0004': 'quit',
} as const

export type Key = (typeof KEYS)[keyof typeof KEYS]

// Matches a whole escape sequence or a single character. Escape alone is a key too.
// oxlint-disable-next-line no-control-regex -- keys are control characters
const EACH = /\u001B(?:\[[\d;]*[A-Za-z~]|O[A-Za-z])|[\s\S]/gu

/** Several keys may arrive at once. Unknown sequences are ignored. */
export function keysIn(bytes: string): Key[] {
  return (bytes.match(EACH) ?? []).flatMap((one) =>
    Object.hasOwn(KEYS, one) ? [KEYS[one as keyof typeof KEYS]] : [],
  )
}
