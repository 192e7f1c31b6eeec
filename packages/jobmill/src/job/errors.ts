/**
 * The one error class of Jobmill and the catalogue of its codes.
 * docs/reference/errors.md lists the same codes in the same order; a test compares the two.
 */

export const ERRORS = {
  ATTEMPT_ENDED: 'The attempt has ended, so nothing more can be written on its behalf',
  CURSOR_INVALID: 'The cursor of a page was not made by this kind of listing',
  DATA_REFUSED: 'The database will never take a value of this call',
  DURATION_INVALID: 'A duration is not one, or is out of bounds',
  DUTY_UNKNOWN: 'No duty has this name',
  HANDLER_INVALID: 'What was given as a handler is not a function',
  ID_INVALID: 'A job id is not a UUID',
  ID_REPEATED: 'The same job id stands twice in one call',
  INSTANT_INVALID: 'An instant is not one, or is out of bounds',
  JOB_CANCELLED: 'The job was cancelled, so it has no result',
  JOB_DEAD: 'The job is dead, so it has no result',
  JOB_UNKNOWN: 'No job has this id',
  KIND_REPEATED: 'Two jobs have the same kind',
  LEASE_LOST: 'The attempt no longer holds its lease, so its write was refused',
  LIMIT_IN_USE: 'A queue draws on this limit, so it cannot be deleted',
  LIMIT_UNKNOWN: 'No limit has this name',
  MILL_NOT_STARTED: 'The mill was not started, and this needs it to work',
  MILL_STOPPED: 'The mill was stopped',
  TRANSFER_REFUSED: 'A database is not as a move needs it: workers are alive, or it is not empty',
  NAME_INVALID: 'The name of a queue, kind, key, tag or schema cannot be used',
  NUMBER_INVALID: 'A number is not whole, or is out of bounds',
  OPTIONS_INVALID: 'Some options of a mill cannot be used; `problems` lists all of them',
  OPTION_CONFLICT: 'Two options contradict each other',
  OPTION_INVALID: 'An option has a value that cannot be used',
  OPTION_UNKNOWN: 'There is no option of this name',
  OUTCOME_UNKNOWN:
    'The database did not say what became of a write that was sent: it may or may not have been committed',
  OVERLOADED: 'More work waits to be written than this process may keep in memory',
  PAYLOAD_INVALID: 'A payload or result does not fit its schema',
  PAYLOAD_NOT_JSON: 'A value cannot be kept as JSON',
  PAYLOAD_TOO_LARGE: 'A value is larger than the limit once written as JSON',
  QUEUES_MISSING: 'There is no queue that this process would serve',
  QUEUE_UNKNOWN: 'No queue has this name',
  RESULT_NOT_KEPT: 'The job is done, but its result could not be stored',
  RESULT_TIMEOUT: 'The job did not end in the time that was given; it goes on',
  SCHEDULE_EXISTS: 'There is a schedule of this name already',
  SCHEDULE_INVALID: 'When a schedule is to run cannot be read, or names no time zone',
  SCHEDULE_UNKNOWN: 'No schedule has this name',
  SCHEMA_CHANGED: 'A migration that was applied differs from the one in this release',
  SCHEMA_NEWER: 'The database was migrated by a newer release',
  SCHEMA_OUTDATED: 'The database lacks tables or migrations that this release needs',
  STORE_BUSY: 'The database refused the write for now; the same call may succeed shortly',
  STORE_CLOSED: 'The store is not open',
  STORE_REFUSED:
    'The database refused the user, the password, the name of the database or the right to do this',
  STORE_UNAVAILABLE: 'The database cannot be reached, or cannot do its work; nothing was written',
  STORE_UNSUPPORTED: 'This version or setting of the database cannot keep the promises',
  TX_INVALID: 'What was given as a transaction cannot run statements',
  TX_ROLLED_BACK: 'The transaction that completed the job was not committed',
} as const

export type ErrorCode = keyof typeof ERRORS

const RETRYABLE: ReadonlySet<ErrorCode> = new Set([
  'OUTCOME_UNKNOWN',
  'OVERLOADED',
  'STORE_BUSY',
  'STORE_UNAVAILABLE',
])

/** As an answer to HTTP: 400, a mistake in what was given, unless it says otherwise. The HTTP API and `error.statusCode` share it. */
const STATUS_CODES: Readonly<Partial<Record<ErrorCode, number>>> = {
  DUTY_UNKNOWN: 404,
  JOB_UNKNOWN: 404,
  LIMIT_UNKNOWN: 404,
  QUEUE_UNKNOWN: 404,
  SCHEDULE_UNKNOWN: 404,
  ATTEMPT_ENDED: 409,
  JOB_CANCELLED: 409,
  LEASE_LOST: 409,
  LIMIT_IN_USE: 409,
  TRANSFER_REFUSED: 409,
  OPTION_CONFLICT: 409,
  SCHEDULE_EXISTS: 409,
  PAYLOAD_TOO_LARGE: 413,
  DATA_REFUSED: 422,
  PAYLOAD_INVALID: 422,
  OVERLOADED: 429,
  // What the program did wrong, or a job that failed: not the fault of whoever sent a request.
  HANDLER_INVALID: 500,
  JOB_DEAD: 500,
  KIND_REPEATED: 500,
  OPTIONS_INVALID: 500,
  QUEUES_MISSING: 500,
  RESULT_NOT_KEPT: 500,
  TX_INVALID: 500,
  TX_ROLLED_BACK: 500,
  MILL_NOT_STARTED: 503,
  MILL_STOPPED: 503,
  OUTCOME_UNKNOWN: 503,
  SCHEMA_CHANGED: 503,
  SCHEMA_NEWER: 503,
  SCHEMA_OUTDATED: 503,
  STORE_BUSY: 503,
  STORE_CLOSED: 503,
  STORE_REFUSED: 503,
  STORE_UNAVAILABLE: 503,
  STORE_UNSUPPORTED: 503,
  RESULT_TIMEOUT: 504,
}

export function statusCodeOf(code: ErrorCode): number {
  return STATUS_CODES[code] ?? 400
}

export interface ErrorDetails {
  /** Which input is meant, as a path: `payload.user.id`, `jobs[3].queue`. */
  readonly field?: string
  /** What was given, shortened. */
  readonly value?: string
  /** What to do about it. */
  readonly fix?: string
  /** Position of the item in a bulk call. */
  readonly index?: number
  readonly cause?: unknown
  /** Of several options at once. */
  readonly problems?: readonly object[]
}

// A symbol rather than instanceof: two copies of the package in one process still know each other's errors.
const BRAND = Symbol.for('jobmill.error')

export class JobmillError extends Error {
  readonly code: ErrorCode
  readonly field: string | undefined
  readonly value: string | undefined
  readonly fix: string | undefined
  readonly index: number | undefined
  /** For OPTIONS_INVALID: each of the form `{ level, code, option, message }`. */
  readonly problems: readonly object[] | undefined

  constructor(code: ErrorCode, what: string, details: ErrorDetails = {}) {
    super(sentence(what, details), details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'JobmillError'
    this.code = code
    this.field = details.field
    this.value = details.value
    this.fix = details.fix
    this.index = details.index
    this.problems = details.problems
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** What an HTTP server should answer with: the error handlers of Fastify, Express and others read it. */
  get statusCode(): number {
    return statusCodeOf(this.code)
  }

  /** True when the same call may succeed if it is made again. */
  get retryable(): boolean {
    return RETRYABLE.has(this.code)
  }
}

export function isJobmillError(error: unknown): error is JobmillError {
  return typeof error === 'object' && error !== null && BRAND in error
}

/** What the call carries is at fault: it will never succeed. Trouble with the database passes, a full disk or a lost right included. */
export function isDataError(error: unknown): boolean {
  return isJobmillError(error) && !error.retryable && !error.code.startsWith('STORE_')
}

/** `jobs[3].queue: a queue name has no white space (got "my queue"). Use letters, digits and . _ - : /` */
function sentence(what: string, { field, value, fix }: ErrorDetails): string {
  const subject = field === undefined ? '' : `${field}: `
  const got = value === undefined ? '' : ` (got ${value})`
  return `${subject}${ended(`${what}${got}`)}${fix === undefined ? '' : ` ${ended(fix)}`}`
}

function ended(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`
}

/** What another door than the library says instead: of the field, of what is wrong with it, and of what to do. */
export interface OtherWords {
  readonly field?: (field: string) => string
  /** For a sentence, or what to do about it. */
  readonly text?: (text: string) => string
}

/** The same error in the words of whoever was called: options of a command, fields of a request. */
export function retold(error: JobmillError, words: OtherWords): JobmillError {
  const { code, index, problems, cause, value } = error
  const { field: nameOf = same, text = same } = words
  const start = error.field === undefined ? '' : `${error.field}: `
  const end = error.fix === undefined ? '' : ` ${ended(error.fix)}`
  if (!error.message.startsWith(start) || !error.message.endsWith(end)) return error
  const also = ALSO_NAMED.get(error) ?? []
  const what = renamed(error.message.slice(start.length, error.message.length - end.length), also, nameOf)
  const told = new JobmillError(code, text(what), {
    ...(error.field !== undefined && { field: nameOf(error.field) }),
    ...(error.fix !== undefined && { fix: text(error.fix) }),
    ...(index !== undefined && { index }),
    ...(problems !== undefined && { problems }),
    cause: cause ?? error,
  })
  alsoNaming(told, also.map(nameOf))
  // It stands in the sentence already.
  return Object.defineProperty(told, 'value', { value, enumerable: true })
}

const same = (text: string): string => text

/** Further fields that a sentence names, each as `; field: `, in their order. */
const ALSO_NAMED = new WeakMap<JobmillError, readonly string[]>()

/** For a sentence about several fields: `retold` gives all of them their other name. */
export function alsoNaming(error: JobmillError, fields: readonly string[]): JobmillError {
  if (fields.length > 0) ALSO_NAMED.set(error, fields)
  return error
}

function renamed(what: string, fields: readonly string[], nameOf: (field: string) => string): string {
  let done = ''
  let rest = what
  for (const field of fields) {
    const [mark, at] = [`; ${field}: `, rest.indexOf(`; ${field}: `)]
    if (at === -1) continue
    done += `${rest.slice(0, at)}; ${nameOf(field)}: `
    rest = rest.slice(at + mark.length)
  }
  return done + rest
}

/** The path of a part: `payload.user`, or `payload["a b"]` for a key that would be hard to read otherwise. */
export function pathOf(parent: string, key: string): string {
  if (!/^[\w$-]{1,40}$/.test(key)) return `${parent}[${quoted(key)}]`
  return parent === '' ? key : `${parent}.${key}`
}

/** What was given, in a form short enough for a message. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString()
  if (typeof value === 'object' && value !== null) return `an object with ${named(Object.keys(value))}`
  return short(typeof value === 'bigint' ? `${value}n` : String(value))
}

function quoted(text: string): string {
  return JSON.stringify(short(text))
}

/** At most 40 characters; a pair of surrogates counts as one and is never cut. */
function short(text: string): string {
  // No character takes more than two units, so a long text is not taken apart as a whole.
  const characters = Array.from(text.slice(0, 82).toWellFormed())
  return characters.length > 40 ? `${characters.slice(0, 40).join('')}…` : characters.join('')
}

function named(keys: readonly string[]): string {
  if (keys.length === 0) return 'no keys'
  return `the keys ${keys
    .slice(0, 5)
    .map((key) => quoted(key))
    .join(', ')}${keys.length > 5 ? ', …' : ''}`
}
