/** Recognizes ids inside of a word: UUIDs, hex, and random letters and digits, with or without a prefix. */

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi
const HEX = /(?<![a-z0-9])(?:0x)?(?=[0-9a-f]*\d)[0-9a-f]{8,}(?![a-z0-9])/gi
/** Longer than a word and with a digit: a token, or something encoded. */
const LONG = /^(?=.*\d)[\w+/.~=-]{32,}$/
/** A nanoid: 21 letters, digits, `_` and `-`. */
const NANOID = /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[\w-]{21}$/
/** `INV-2026-00012`, `ROT-1`, `SKU-88213-BLK`, `A-21044`. */
const CODED = /^#?[A-Z]{1,6}(?:-[A-Z\d]+)*-?\d+(?:-[A-Z\d]+)*$/
const PART = /[^_.\-~/<>]+/g

/** `req_76aueacb95` becomes `req_<id>`, and `web-7f9c6d8b5-x2x9q` becomes `web-<id>-<id>`. */
export function maskIds(chunk: string): string {
  const plain = chunk.replaceAll(UUID, '<id>')
  if (LONG.test(plain) || NANOID.test(plain) || CODED.test(plain)) return '<id>'
  return plain.replaceAll(HEX, '<id>').replaceAll(PART, (part) => (isId(part) ? '<id>' : part))
}

/** Whether these letters and digits look random: `76aueacb95`, `q8Zt4`, `01JA0B6PWY9GTQ3DSHZ8FN4KMX`. */
function isId(part: string): boolean {
  if (!/^[a-z0-9]+$/i.test(part)) return false
  const digits = part.replaceAll(/\D/g, '').length
  const letters = part.length - digits
  if (digits === 0) return isRandom(part)
  if (letters === 0) return false
  // A word with a number at its end: `utf8`, `http2`, `sha256`.
  if (/^(?:[a-z]+|[A-Z][a-z]*|[A-Z]+)\d{1,4}$/.test(part)) return false
  return part.length >= 8 || changes(part) >= 2
}

/** How often upper-case letters, lower-case letters and digits change. */
function changes(text: string): number {
  let count = 0
  let last = ''
  for (const character of text) {
    const type = /\d/.test(character) ? 'digit' : character === character.toUpperCase() ? 'upper' : 'lower'
    if (last !== '' && type !== last) count += 1
    last = type
  }
  return count
}

/** Whether letters change their case more often than words in camel case do: `RsYfHqTkBnWmCz`. */
export function isRandom(text: string): boolean {
  return /^[a-z0-9]{10,}$/i.test(text) && changes(text) > text.length * 0.45
}
