/**
 * Groups errors: two errors are the same if their kind and the shape of their first line match. The shape
 * replaces what varies between jobs: `<n>` for numbers and ids, `<text>` for quoted text, and `<email>`,
 * `<url>` and `<path>`.
 * Computing the shape of a shape changes nothing. To ensure that, text next to a placeholder, or before the …
 * of a truncation, loses only its numbers: it is the rest of something already replaced or truncated.
 */
import { createHash } from 'node:crypto'

/** No stored line is longer. */
const MOST_READ = 4_096
const MOST_SHAPE = 200
const HASH_DIGITS = 16

export const FINGERPRINT = /^[0-9a-f]{16}$/

export interface Fingerprint {
  readonly fingerprint: string
  readonly shape: string
}

export function fingerprintOf(kind: string, error: string | null): Fingerprint {
  const shape = shapeOf(error ?? '')
  const hash = createHash('sha256').update(`${kind}\n${shape}`).digest('hex')
  return { fingerprint: hash.slice(0, HASH_DIGITS), shape }
}

const PLACEHOLDER = /<(?:n|text|email|url|path)>/

/** The longest literal part of a shape, which every error of that shape contains; empty if there is none. */
export function literalOf(shape: string): string {
  const pieces = shape.split(new RegExp(`${PLACEHOLDER.source}|…$`)).map((piece) => piece.trim())
  return pieces.reduce((longest, piece) => (piece.length > longest.length ? piece : longest), '')
}

/**
 * Matches a placeholder, a URL, a quote, a run of characters without separators, or one separator. Each
 * character is scanned once.
 */
const TOKEN = new RegExp(
  `(?<kept>${PLACEHOLDER.source})|(?<url>(?<![>…])[a-z][a-z0-9+.-]{0,19}://[^\\s"'\`<>]+)|(?<quote>["'\`])|(?<chunk>[^\\s"'\`<>=,;|()[\\]{}:]+)|.`,
  'gisu',
)

export function shapeOf(error: string): string {
  const line = firstLine(error)
  const closing = closingQuotes(line)
  let shape = ''
  TOKEN.lastIndex = 0
  for (let token = TOKEN.exec(line); token !== null; token = TOKEN.exec(line)) {
    const [all] = token
    const { url, quote, chunk } = token.groups ?? {}
    const end = quote === undefined ? undefined : closing(token.index)
    if (end !== undefined) {
      shape += '<text>'
      TOKEN.lastIndex = end + 1
    } else if (url !== undefined) shape += '<url>'
    else if (chunk === undefined) shape += all
    else {
      const isRest = line[token.index - 1] === '>' || line[TOKEN.lastIndex] === '<' || chunk.includes('…')
      shape += isRest ? withoutNumbers(chunk) : chunkShape(chunk)
    }
  }
  // Collapses a list of numbers, whose length may vary between jobs, to one.
  return cut(shape.replaceAll(/<n>(?:[.,] ?<n>)+/g, '<n>'))
}

function firstLine(error: string): string {
  const from = error.search(/\S/)
  if (from === -1) return ''
  const part = error.slice(from, from + MOST_READ)
  const end = part.search(/[\r\n]/)
  return (end === -1 ? part : part.slice(0, end)).trimEnd()
}

const EMAIL = /^[^@]+@[^@]+\.[a-z]{2,}\.?$/i
const ROOTED = /^(?:\.{1,2}|~)?[/\\]+[^/\\]/
const NESTED = /[/\\][^/\\]+(?:[/\\]|\.\w+$)/
const NUMBER = /^-?\d+(?:\.\d+)*(?:e[+-]?\d+)?$/i
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi
const HEX = /(?<![a-z0-9])(?:0x)?[0-9a-f]{8,}(?![a-z0-9])/gi
/** Longer than a word and with a digit: a token, or something encoded. */
const LONG = /^(?=.*\d)[\w+/.~-]{32,}$/

function chunkShape(chunk: string): string {
  if (EMAIL.test(chunk)) return '<email>'
  if (ROOTED.test(chunk) || NESTED.test(chunk)) return '<path>'
  if (NUMBER.test(chunk)) return '<n>'
  const plain = chunk.replaceAll(UUID, '<n>')
  if (LONG.test(plain)) return '<n>'
  return withoutNumbers(plain.replaceAll(HEX, '<n>'))
}

function withoutNumbers(chunk: string): string {
  return chunk.replaceAll(/(?:^-)?\d+(?:\.\d+)*(?:e[+-]?\d+)?/gi, '<n>')
}

/**
 * Finds the end of a quoted text. An apostrophe between letters neither starts nor ends one. Scans the line
 * once.
 */
function closingQuotes(line: string): (at: number) => number | undefined {
  const none = new Set<string>()
  return (at) => {
    const quote = line[at] ?? ''
    if (none.has(quote) || isInside(line[at - 1], '>')) return undefined
    for (let end = line.indexOf(quote, at + 1); end !== -1; end = line.indexOf(quote, end + 1))
      if (!isInside(line[end + 1], '<')) return end
    // No later quote of this type can close either.
    none.add(quote)
    return undefined
  }
}

function isInside(sibling: string | undefined, bracket: string): boolean {
  return sibling !== undefined && (sibling === bracket || /[\p{L}\p{N}_…]/u.test(sibling))
}

function cut(shape: string): string {
  if (shape.length <= MOST_SHAPE) return shape
  const part = shape.slice(0, MOST_SHAPE - 1)
  return `${part.isWellFormed() ? part : part.slice(0, -1)}…`
}
