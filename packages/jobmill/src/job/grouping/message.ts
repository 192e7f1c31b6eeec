/**
 * The part of an error that says what happened, in one line: without causes, stack, excerpts of code, values
 * of a row, the text of a statement, and notes such as an attempt or a request id.
 */

/** No more of an error is read. */
const MOST_READ = 4_096

/** What follows is a cause, a stack, a log, or the values of a row. */
const END = /\n\s*(?:caused by:|at |call log:)|\s(?:detail|hint|params|parameters|body|headers): ?/i
/** A line in the output of a program that says why it failed. */
const REASON = /^\s*(?:fatal(?: error)?|error|[a-z_]+: error|curl: \(\d+\)|abort(?:ed)?)[:\s].*$/im
/** Knex, and other libraries that print the statement first. */
const STATEMENT = /^(?:\w+: )?(?:select|insert|update|delete|with)\b.* - (?=\S)/is
/** The values and columns of a statement. */
const COLUMNS = /((?:insert into|update|delete from|select) ["`]?[\w.]+["`]?)[^:]*(?=:|$)/gi
/** A note that some errors of the same cause have and others do not. */
const NOTE =
  /\s*[([](?:attempt|retry|retries|retried|request|req|trace|debug|correlation|x-[a-z-]+|took|took:|after|id)[\s:=#_-][^)\]]*[)\]]/gi

export function messageOf(error: string): string {
  const part = error.slice(0, MOST_READ)
  const end = part.search(END)
  const message = (end === -1 ? part : part.slice(0, end)).trim()
  const text = plainJson(reasonOf(message).replace(STATEMENT, '').replace(COLUMNS, '$1'))
  return text.replaceAll(NOTE, '').replaceAll(/\s+/g, ' ').trim()
}

/** Between the first line and the last paragraph of Prisma is an excerpt of code; programs print progress. */
function reasonOf(message: string): string {
  const [first = ''] = message.split('\n', 1)
  if (first === message) return message
  const last = /\n\s*\n(?!.*\n\s*\n)/s.exec(message)
  if (last !== null) return `${first} ${message.slice(last.index)}`
  const reason = REASON.exec(message.slice(first.length))
  if (reason === null) return message
  return `${first.split(' ').slice(0, 4).join(' ')}: ${reason[0]}`
}

/** The fields of an error in JSON that say what happened, in this order. */
const FIELDS = [
  'status',
  'code',
  'type',
  'error',
  'name',
  'reason',
  'path',
  'field',
  'message',
  'title',
  'error_description',
]

/** Replaces JSON by the fields that say what happened, so that their order and other fields do not matter. */
function plainJson(text: string): string {
  const from = text.search(/[[{]\s*["{]/)
  const to = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']')) + 1
  if (from === -1 || to <= from) return text
  let value: unknown
  try {
    value = JSON.parse(text.slice(from, to))
  } catch {
    return text
  }
  return `${text.slice(0, from)}${fieldsOf(value, 0)}`
}

function fieldsOf(value: unknown, depth: number): string {
  if (depth > 4 || value === null || value === undefined) return ''
  if (typeof value !== 'object') return typeof value === 'string' ? value : JSON.stringify(value)
  // The first of several errors.
  if (Array.isArray(value)) {
    const [first] = value as unknown[]
    const isPath = value.every((one) => typeof one === 'string' || typeof one === 'number')
    return isPath
      ? value.map((one) => (typeof one === 'number' ? 'n' : one)).join('.')
      : fieldsOf(first, depth + 1)
  }
  const object = value as Readonly<Record<string, unknown>>
  const parts = FIELDS.flatMap((key) => {
    const part = fieldsOf(object[key] ?? null, depth + 1)
    return part === '' ? [] : [part]
  })
  if (parts.length > 0) return parts.join(': ')
  return Object.values(object)
    .map((one) => fieldsOf(one, depth + 1))
    .filter((one) => one !== '')
    .slice(0, 2)
    .join(': ')
}
