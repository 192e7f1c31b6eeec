/**
 * Which errors are the same one: those of one kind whose first lines have the same shape. The shape is the line with what varies from one job to the
 * next replaced: `<n>` stands for numbers, uuids and other ids, `<text>` for what is quoted, and `<email>`, `<url>` and `<path>` for those.
 *
 * The shape of a shape is itself. What stands next to a placeholder, or before the … of a cut, is therefore left as it is: it is
 * the rest of something that was replaced or cut already.
 */
import { createHash } from 'node:crypto'

/** No line that we store is longer. */
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

/** The longest piece of a shape that stands in every error of that shape, letter for letter; empty when there is none. */
export function literalOf(shape: string): string {
  const pieces = shape.split(new RegExp(`${PLACEHOLDER.source}|…$`)).map((piece) => piece.trim())
  return pieces.reduce((longest, piece) => (piece.length > longest.length ? piece : longest), '')
}

/** A placeholder, an address, a quote, a run of characters without any that separate, or one that does. Each is looked at once. */
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
  // One number, or a list of them that is longer in another job.
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
/** Longer than words are, with a digit: a token, or something encoded. */
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

/** Whether a quote begins something, and where that ends: an apostrophe stands between letters and does neither. In one walk over the line. */
function closingQuotes(line: string): (at: number) => number | undefined {
  const none = new Set<string>()
  return (at) => {
    const quote = line[at] ?? ''
    if (none.has(quote) || isInside(line[at - 1], '>')) return undefined
    for (let end = line.indexOf(quote, at + 1); end !== -1; end = line.indexOf(quote, end + 1))
      if (!isInside(line[end + 1], '<')) return end
    // Nor does any later one end.
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
