/**
 * The shape of an error: its message with everything replaced that varies between jobs with the same cause.
 * It keeps what differs between causes: the class, status and error codes, and the names of columns,
 * constraints, fields and properties.
 *
 * Computing the shape of a shape changes nothing. To ensure that, text next to a placeholder, or before the …
 * of a truncation, loses only its numbers: it is the rest of something already replaced or truncated.
 */
import { cut } from '../text/error-text.ts'
import { closingQuotes, isSchemaName } from './quotes.ts'
import { isRandom, maskIds } from './ids.ts'
import { messageOf } from './message.ts'
import { maskPeople } from './people.ts'

const MOST_SHAPE = 400

const PLACEHOLDERS = ['n', 'id', 'text', 'email', 'url', 'path', 'host', 'date', 'name'] as const
export const PLACEHOLDER = `<(?:${PLACEHOLDERS.join('|')})>`

/** The constant parts of a shape, between its placeholders. */
export function constantsOf(shape: string): string[] {
  return shape.split(new RegExp(`${PLACEHOLDER}|…$`)).map((part) => part.trim())
}

export function shapeOf(error: string): string {
  const text = maskPeople(maskDates(messageOf(error)))
    .replaceAll(AFTER_CODE, '$1 <host>')
    .replaceAll(KEY_VALUES, '=(<text>)')
  // Collapses a list of numbers or ids, whose length may vary between jobs, to one.
  const shape = maskTokens(text).replaceAll(/(<(?:n|id)>)(?:[.,/x] ?\1)+/g, '$1')
  return cut(shape, MOST_SHAPE)
}

/** The values of a unique key, as PostgreSQL prints them. */
const KEY_VALUES = /(?<=\w\))=\((?!<text>\))[^()]{1,400}\)/g
/** The host or address after the code of a system error. */
const AFTER_CODE = /\b(E[A-Z_]{4,}|query[A-Z]\w+) (?=[\w.-]*[.\d-])[\w.-]+(?::\d+)?/g
const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\\.?'
const DAY = '(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?'
const TIME =
  '(?:,? (?:at )?\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d+)?)?(?: ?(?:am|pm))?(?: ?(?:z|utc|gmt|[+-]\\d{2}:?\\d{0,2}))?(?![a-z]))?'
const DATE = new RegExp(
  [
    `\\b${DAY}\\d{1,2}[. -]{1,2}${MONTH}[ -]\\d{4}\\b${TIME}`,
    `\\b${DAY}${MONTH} \\d{1,2}(?:st|nd|rd|th)?,? \\d{4}\\b${TIME}`,
    // A month in any language.
    `\\b\\d{1,2}(?:st|nd|rd|th|er|\\.)? (?:de )?\\p{L}{3,12}\\.?,? (?:de )?(?:19|20)\\d\\d\\b${TIME}`,
    `\\b\\d{1,4}[/.]\\d{1,2}[/.]\\d{4}\\b${TIME}`,
    `\\b\\d{4}/\\d{1,2}/\\d{1,2}\\b${TIME}`,
    '(?:令和|平成)?\\d{1,4}年\\d{1,2}月\\d{1,2}日',
    `\\b\\d{4}-\\d{2}-\\d{2}(?:[t ]\\d{2}:?\\d{2}(?::?\\d{2}(?:[.,]\\d+)?)?(?:z|[+-]\\d{2}:?\\d{0,2})?)?(?![\\w-])`,
  ].join('|'),
  'giu',
)

/** `fd00:10:96::e03`, `2001:db8::1`, and addresses without a gap. Times have no `::` and fewer colons. */
const IPV6 =
  /(?<![\w:.])(?:(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6}|::[0-9a-f]{1,4}|(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4})(?![\w:])/g

function maskDates(text: string): string {
  return text.replaceAll(DATE, '<date>').replaceAll(IPV6, '<host>')
}

/**
 * Matches a placeholder, a URL, an ARN, a quote, a run of characters without separators, or one separator.
 * Each character is scanned once.
 */
const TOKEN = new RegExp(
  `(?<kept>${PLACEHOLDER})|(?<url>(?<![>…])[a-z][a-z0-9+.-]{0,19}://[^\\s"'\`<>]+|(?<![>…\\w])arn:[\\w:/.*+=@-]+)|(?<quote>["'\`«»“”])|(?<chunk>[^\\s"'\`<>=,;|()[\\]{}:«»“”]+)|.`,
  'gisu',
)

function maskTokens(line: string): string {
  const closing = closingQuotes(line)
  let shape = ''
  TOKEN.lastIndex = 0
  for (let token = TOKEN.exec(line); token !== null; token = TOKEN.exec(line)) {
    const [all] = token
    const { url, quote, chunk } = token.groups ?? {}
    const end = quote === undefined ? undefined : closing(token.index)
    if (end !== undefined) {
      const inside = line.slice(token.index + 1, end)
      const isName = isSchemaName(line, token.index, end)
      shape += isName ? `${all}${withoutNumbers(unqualified(inside))}${line[end] ?? ''}` : '<text>'
      TOKEN.lastIndex = end + 1
    } else if (url !== undefined) shape += '<url>'
    else if (chunk === undefined) shape += all
    else {
      const after = TOKEN.lastIndex
      const isRest = line[token.index - 1] === '>' || line[after] === '<' || chunk.includes('…')
      if (isRest) shape += withoutNumbers(chunk)
      else if (isCode(line, token.index, after)) shape += chunk
      // The path of a field in a validated value.
      else if (line.startsWith(' must ', after) && chunk.includes('/')) shape += withoutNumbers(chunk)
      else shape += chunkShape(chunk)
    }
  }
  return shape
}

const STATUS_BEFORE =
  /(?:^|[\s([{"'=:,])(?:status|status ?code|code|http|https|errno|error ?code|errorcode|sqlstate|exit(?:ed)?(?: with)?(?: code| status)?|signal|responded with|response|returned|reason ?code|refusalreasoncode)["']?[\s:=#]*$/i
const CODE_AFTER = /^[.:]?\s*(?:[A-Z][A-Za-z_-]+|[({[]|<)|^\s*$/

/** Whether a number is a status or error code, by the text around it. */
function isCode(line: string, from: number, to: number): boolean {
  const chunk = line.slice(from, to)
  if (!/^-?\d{1,6}\.?$/.test(chunk)) return false
  const before = line.slice(Math.max(0, from - 40), from)
  if (STATUS_BEFORE.test(before)) return true
  const startsClause = /(?:^|[:\]] |[[({])$/.test(before)
  const after = line.slice(to, to + 40)
  // SMTP replies: 550 5.1.1; gRPC: 14 UNAVAILABLE; HTTP: 503 Service Unavailable.
  if (/^[2-5]\d\d$/.test(chunk) && startsClause)
    return CODE_AFTER.test(after) || /^[ -]\d\.\d{1,3}\.\d{1,3}/.test(after)
  if (/^[45]\d\d$/.test(chunk) && /^ \p{Lu}\p{L}/u.test(after)) return true
  return startsClause && /^\d{1,2}$/.test(chunk) && /^ [A-Z]{2}[A-Z_]+\b/.test(after)
}

const EMAIL = /^[^@]+@[^@]+\.[a-z]{2,}\.?$/i
const ROOTED = /^(?:\.{1,2}|~|[a-z](?=\\))?[/\\]+[^/\\]/i
const NESTED = /[/\\][^/\\]+(?:[/\\]|\.\w+$)/
/** The name of a file, without a folder. */
const FILE =
  /^[\p{L}\w-]+\.(?:pdf|csv|tsv|xlsx?|docx?|pptx?|png|jpe?g|gif|webp|svg|heic|tiff?|bmp|mp[34]|mov|webm|wav|ogg|zip|gz|tar|tgz|json|xml|html?|txt|md|ya?ml|log|sql|parquet|avro|eml|ics|bin|dat|tmp|bak)$/iu
const NUMBER = /^[+-]?[$€£¥₽₹]?-?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?[$€£¥₽₹%]?$/i
const UNITS =
  /^[$€£¥₽₹]?\d+(?:[.,]\d+)*(?:ms|s|m|h|d|min|sec|us|µs|ns|kb|mb|gb|tb|kib|mib|gib|b|px|x|k|%|st|nd|rd|th)[.]?$/i
/** `1m30s`, `2h15m`. */
const SPAN = /^(?:\d{1,9}(?:ms|h|m|s|d)){2,5}$/
const HOST =
  /^(?:\*\.)?(?:[\w-]+\.)+(?:com|net|org|io|dev|app|co|ai|cloud|test|example|invalid|local|localhost|internal|lan|svc|cluster|eu|de|uk|fr|us|ru|jp|in|nl|ch|at|se|info|biz|me)\.?$/i
const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/

function chunkShape(chunk: string): string {
  if (EMAIL.test(chunk)) return '<email>'
  if (ROOTED.test(chunk) || NESTED.test(chunk) || FILE.test(chunk)) return '<path>'
  if (IPV4.test(chunk) || HOST.test(chunk)) return '<host>'
  if (NUMBER.test(chunk) || UNITS.test(chunk) || SPAN.test(chunk)) return '<n>'
  const masked = maskIds(chunk)
  return masked === '<id>' || isRandom(chunk) ? '<id>' : withoutNumbers(masked)
}

/** The name of a table without its database or schema, which may be that of a tenant. */
function unqualified(name: string): string {
  return /^\w+\.\w+$/.test(name) ? name.replace(/^\w+/, '<text>') : name
}

function withoutNumbers(chunk: string): string {
  return chunk.replaceAll(/(?:^-)?\d+(?:\.\d+)*(?:e[+-]?\d+)?/gi, '<n>')
}
