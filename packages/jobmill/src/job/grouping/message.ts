/**
 * The part of an error that says what happened, in one line: without causes, stack, excerpts of code, values
 * of a row, the text of a statement, and notes such as an attempt or a request id.
 */

/** At most this much of an error is read. */
const MOST_READ = 4_096

/** The text from here on is a cause, a stack, a log, or the values of a row. */
const END = /\n\s*(?:caused by:|at |call log:)|\s(?:detail|hint|params|parameters|body|headers): ?/i
/** A line in the output of a program that says why it failed. */
const REASON = /^\s*(?:fatal(?: error)?|error|[a-z_]+: error|curl: \(\d+\)|abort(?:ed)?)[:\s].*$/im
/** A line of code in an excerpt, with its number. */
const EXCERPT = /\n[ \t]*(?:→[ \t]*)?\d+ .*/g
/** Knex, and other libraries that print the statement first. */
const STATEMENT = /^(?:\w+: )?(?:select|insert into|update|delete from|with)\b.* - (?=\S)/is
/** The values and columns of a statement. */
const COLUMNS = /((?:insert into|update(?! on )|delete from|select) ["`]?[\w.]+["`]?)[^:]*(?=:|$)/gi
/** Patterns that look for lines would otherwise need seconds for an error with hundreds of blank lines. */
const BLANK_LINES = /\n\s*\n/g
/** A note that some errors of the same cause have and others do not. */
const NOTE =
  /\s*[([](?:attempt|retry|retries|retried|request|req|trace|debug|correlation|x-[a-z-]+|took|took:|after|id)[\s:=#_-][^)\]]*[)\]]/gi

export function messageOf(error: string): string {
  const part = error.slice(0, MOST_READ).replaceAll(BLANK_LINES, '\n\n')
  const end = part.search(END)
  const message = (end === -1 ? part : part.slice(0, end)).trim()
  const text = plainJson(reasonOf(message).replace(STATEMENT, '').replace(COLUMNS, '$1'))
  return text.replaceAll(NOTE, '').replaceAll(/\s+/g, ' ').trim()
}

/**
 * Finds the reason in an error of several lines. Prisma puts an excerpt of code between the first line and
 * the last paragraph, and programs print progress before the reason.
 */
function reasonOf(given: string): string {
  const message = given.includes('\n→') ? given.replaceAll(EXCERPT, '') : given
  const [first = ''] = message.split('\n', 1)
  if (first === message) return message
  if (saysEnough(first)) return first
  const reason = REASON.exec(message.slice(first.length))
  if (reason === null) {
    const last = message.lastIndexOf('\n\n')
    return last === -1 ? message : `${first} ${message.slice(last)}`
  }
  return `${first.split(' ').slice(0, 4).join(' ')}: ${reason[0]}`
}

/** Replaces JSON by what it says happened, so that the order of its fields and other fields do not matter. */
function plainJson(text: string): string {
  const from = text.search(/[[{]\s*["{]/)
  if (from === -1) return text
  let value: unknown
  try {
    value = JSON.parse(text.slice(from, endOfJson(text, from)))
  } catch {
    return text
  }
  const said = saidBy(value, 0)
  // If no field says what happened, the JSON only adds details to the text before it.
  return said === '' && from < LEAST_BEFORE ? text : `${text.slice(0, from)}${said}`
}

/** Whether the first line already has the reason, after the name of the program and its exit code. */
function saysEnough(first: string): boolean {
  if (/^(?:\w+: )?Command failed/.test(first)) return false
  const [, reason = ''] = /^(?:\w+: )?[^:]*: (.*)$/.exec(first) ?? []
  return REASON.test(reason) || (reason.match(/(?<![^\s])[a-z]{2,}(?=\s|$)/g) ?? []).length >= 3
}

const LEAST_BEFORE = 10

/** The end of the JSON that begins here: its closing bracket. */
function endOfJson(text: string, from: number): number {
  let depth = 0
  let isQuoted = false
  for (let at = from; at < text.length; at += 1) {
    const character = text[at]
    if (isQuoted && character === '\\') at += 1
    else if (character === '"') isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    if (depth === 0) return at + 1
  }
  return text.length
}

const MOST_DEPTH = 4
/** Fields with the place of the refused value. */
const PLACE = ['path', 'field', 'property', 'instancepath']
/** Fields that say what happened, in words. The first one that is present counts. */
const WORDS = [
  'message',
  'error_description',
  'error_message',
  'errormessage',
  'msg',
  'reason',
  'detail',
  'description',
  'faultstring',
  'error',
  'errors',
  'fault',
  'title',
  'response',
  'body',
  'data',
  'cause',
]
/** Fields with a code that says what happened, if no other field does. */
const CODES = ['code', 'type', 'name', 'status']

function saidBy(value: unknown, depth: number): string {
  if (depth > MOST_DEPTH || value === null || value === undefined) return ''
  if (typeof value !== 'object') return typeof value === 'string' ? value : JSON.stringify(value)
  // The first of several errors.
  if (Array.isArray(value)) return saidBy((value as unknown[])[0], depth + 1)
  const object = value as Readonly<Record<string, unknown>>
  const fields = new Map(Object.entries(object).map(([key, one]) => [key.toLowerCase(), one]))
  const place = PLACE.map((key) => placeText(fields.get(key))).find((text) => text !== '')
  const said = [...WORDS, ...CODES]
    .map((key) => saidBy(fields.get(key), depth + 1))
    .find((text) => text !== '')
  return [place, said].filter((part) => part !== undefined).join(': ')
}

/** `lines.n.quantity`: the index of an item does not matter. */
function placeText(value: unknown): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return ''
  return value.map((part) => (/^\d+$/.test(String(part)) ? 'n' : String(part))).join('.')
}
