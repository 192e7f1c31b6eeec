/** Estimates the memory of a JSON text once it is parsed, which can be many times its size. */

/**
 * The maximum memory of one value, in bytes. An empty list inside a list takes about 75 bytes, and counts as
 * two values.
 */
const VALUE_BYTES = 64

const [QUOTE, COMMA, COLON, LIST, OBJECT, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5b, 0x7b, 0x5c] as const

/**
 * The bytes that the values of this text take, in addition to it; null if it has more than `mostValues`.
 * Counts the characters that start a list or an object, and that separate items, keys and values. A text that
 * is not JSON is counted up to its error, at least.
 */
export function jsonWeight(text: string, mostValues: number): number | null {
  let values = 1
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at + 1)
        break
      case COMMA:
      case COLON:
      case LIST:
      case OBJECT:
        values += 1
        if (values > mostValues) return null
    }
  }
  return values * VALUE_BYTES
}

/** The index of the quote that ends a string, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let from = start; ;) {
    const end = text.indexOf('"', from)
    if (end === -1) return text.length
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return end
    from = end + 1
  }
}
