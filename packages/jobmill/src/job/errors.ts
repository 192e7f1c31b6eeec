/**
 * The only error class of Jobmill, and the catalog of its codes. docs/reference/errors.md lists the same
 * codes in the same order; a test compares the two.
 */
import { type Fix, type FixCode, FIXES, type FixTexts, fixText } from './fixes.ts'

/**
 * The HTTP status of each code and what it means. 400 is invalid input. 500 is a program error or a failed
 * job: the sender of the request is not at fault. The HTTP API and `error.statusCode` share the status.
 */
const CATALOG = {
  ALERT_UNKNOWN: [404, 'No alert rule has this name'],
  ATTEMPT_ENDED: [409, 'The attempt has ended and can no longer write'],
  CURSOR_INVALID: [400, 'The cursor does not belong to this list'],
  DATA_REFUSED: [422, 'The database rejected a value; retrying cannot succeed'],
  DURATION_INVALID: [400, 'A duration is malformed or out of range'],
  DUTY_UNKNOWN: [404, 'No duty has this name'],
  HANDLER_INVALID: [500, 'A handler or middleware is invalid'],
  ID_INVALID: [400, 'A job id is not a UUID'],
  ID_REPEATED: [400, 'The same job id appears twice in one call'],
  INSTANCE_ENDED: [409, 'The process has ended or was asked to stop'],
  INSTANCE_UNKNOWN: [404, 'No process has this id'],
  INSTANT_INVALID: [400, 'An instant is malformed or out of range'],
  JOB_CANCELLED: [409, 'The job was cancelled, so it has no result'],
  JOB_DEAD: [500, 'The job is dead, so it has no result'],
  JOB_ENDED: [409, 'The job has ended, so it receives no events'],
  JOB_UNKNOWN: [404, 'No job has this id'],
  KIND_REPEATED: [500, 'Two jobs have the same kind'],
  KIND_UNKNOWN: [404, 'No running process has a handler for this kind'],
  LEASE_LOST: [409, 'The attempt no longer holds its lease, so its write was refused'],
  LIMIT_IN_USE: [409, 'A queue uses this limit, so it cannot be deleted'],
  LIMIT_UNKNOWN: [404, 'No limit has this name'],
  MILL_NOT_STARTED: [503, 'The call needs a started mill'],
  MILL_STOPPED: [503, 'The mill was stopped'],
  NAME_INVALID: [400, 'A name, key or tag is invalid'],
  NUMBER_INVALID: [400, 'A number is not a whole number or is out of range'],
  OPTIONS_INVALID: [500, 'Some options of the mill are invalid; `problems` lists all of them'],
  OPTION_CONFLICT: [409, 'Two options contradict each other'],
  OPTION_INVALID: [400, 'An option has an invalid value'],
  OPTION_UNKNOWN: [400, 'No option has this name'],
  OUTCOME_UNKNOWN: [503, 'The result of a write is unknown: it may or may not have been committed'],
  OVERLOADED: [429, 'Too many jobs are waiting in memory to be written'],
  PAYLOAD_INVALID: [422, 'A payload or result does not match its schema'],
  PAYLOAD_NOT_JSON: [400, 'A value cannot be stored as JSON'],
  PAYLOAD_TOO_LARGE: [413, 'A value exceeds the size limit as JSON'],
  QUEUES_MISSING: [500, 'This process has no queue to serve'],
  QUEUE_UNKNOWN: [404, 'No queue has this name'],
  RESULT_NOT_KEPT: [500, 'The job is done, but its result could not be stored'],
  RESULT_TIMEOUT: [504, 'The job did not end within the timeout; the job itself is not affected'],
  SCHEDULE_EXISTS: [409, 'A schedule with this name already exists'],
  SCHEDULE_INVALID: [400, 'The expression or time zone of a schedule is invalid, or the schedule never runs'],
  SCHEDULE_UNKNOWN: [404, 'No schedule has this name'],
  SCHEMA_CHANGED: [503, 'An applied migration differs from the one in this release'],
  SCHEMA_NEWER: [503, 'The database was migrated by a newer release'],
  SCHEMA_OUTDATED: [503, 'The database lacks tables or migrations that this release needs'],
  STEPS_TOO_MANY: [422, 'The job has too many steps, or their results are too large in total'],
  STEP_HOLDS_RESOURCE: [500, 'A step waits while the attempt holds a permit of a concurrency limit'],
  STEP_INVALID: [500, 'This call of a step is not allowed'],
  STEP_NAME_REUSED: [500, 'One attempt calls two steps with the same name'],
  STEP_TIMED_OUT: [504, 'A step did not end within its timeout'],
  STEP_UNKNOWN: [404, 'The job has no step with this name'],
  STORE_BUSY: [503, 'The database is busy; the same call may succeed shortly'],
  STORE_CLOSED: [503, 'The store is not open'],
  STORE_REFUSED: [503, 'The database refused the user, the password, the database name or the permission'],
  STORE_UNAVAILABLE: [503, 'The database is unreachable or cannot serve requests; nothing was written'],
  STORE_UNSUPPORTED: [503, 'This version or setting of the database cannot uphold the guarantees'],
  TRANSFER_REFUSED: [409, 'A database is not ready for a transfer, or changed during it'],
  TX_INVALID: [500, 'The value passed as a transaction cannot run statements'],
  TX_ROLLED_BACK: [500, 'The transaction that completed the job was not committed'],
  TX_STALE: [503, 'The transaction began before the row of the job existed; it succeeds when it runs again'],
  VIEW_EXISTS: [409, 'A saved view with this name already exists'],
  VIEW_UNKNOWN: [404, 'No saved view has this name'],
} as const satisfies Readonly<Record<string, readonly [status: number, sentence: string]>>

export type ErrorCode = keyof typeof CATALOG

export const ERRORS = Object.fromEntries(
  Object.entries(CATALOG).map(([code, [, sentence]]) => [code, sentence]),
) as Readonly<Record<ErrorCode, string>>

const RETRYABLE: ReadonlySet<ErrorCode> = new Set([
  'OUTCOME_UNKNOWN',
  'OVERLOADED',
  'STORE_BUSY',
  'STORE_UNAVAILABLE',
  'TX_STALE',
])

export function statusCodeOf(code: ErrorCode): number {
  return CATALOG[code][0]
}

export interface ErrorDetails {
  /** The path of the input: `payload.user.id`, `jobs[3].queue`. */
  readonly field?: string
  /** The value that was passed, shortened. */
  readonly value?: string
  /** How to fix it: a text, or a code whose text depends on the interface. */
  readonly fix?: string | Fix
  /** The fields that the sentence names, in the order of its `OTHER` marks. */
  readonly others?: readonly string[]
  /** Position of the item in a bulk call. */
  readonly index?: number
  readonly cause?: unknown
  /** All problems, when several options are invalid at once. */
  readonly problems?: readonly object[]
}

// A symbol instead of instanceof, so that two copies of the package in one process recognize each other's
// errors.
const BRAND = Symbol.for('jobmill.error')

export class JobmillError extends Error {
  readonly code: ErrorCode
  // `declare`, so that a printed error shows only the fields that it has.
  declare readonly field: string | undefined
  declare readonly value: string | undefined
  declare readonly fix: string | undefined
  /** The code of the fix, for programs. */
  declare readonly fixCode: FixCode | undefined
  declare readonly index: number | undefined
  /** For OPTIONS_INVALID: each of the form `{ level, code, option, message }`. */
  declare readonly problems: readonly object[] | undefined

  constructor(code: ErrorCode, what: string, details: ErrorDetails = {}, fixes: FixTexts = FIXES) {
    super(sentence(what, details, fixes), details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'JobmillError'
    this.code = code
    const { field, value, fix, index, problems } = details
    if (field !== undefined) this.field = field
    if (value !== undefined) this.value = value
    if (fix !== undefined) this.fix = fixText(fix, fixes)
    if (typeof fix === 'object') this.fixCode = fix.code
    if (index !== undefined) this.index = index
    if (problems !== undefined) this.problems = problems
    Object.defineProperty(this, BRAND, { value: true })
    PARTS.set(this, { what, details })
  }

  /** The status for an HTTP response; the error handlers of Fastify, Express and others read it. */
  get statusCode(): number {
    return statusCodeOf(this.code)
  }

  /** True when the same call may succeed if you retry it. */
  get retryable(): boolean {
    return RETRYABLE.has(this.code)
  }
}

/** The error about a value that was passed: shows the value, shortened. */
export function invalidValue(
  field: string,
  value: unknown,
  what: string,
  fix: string | Fix,
  code: ErrorCode = 'OPTION_INVALID',
): JobmillError {
  return new JobmillError(code, what, { field, value: quote(value), fix })
}

export function isJobmillError(error: unknown): error is JobmillError {
  return typeof error === 'object' && error !== null && BRAND in error
}

/**
 * Whether the input of the call is at fault, so that it can never succeed. Errors with status 503 are about
 * the mill, the schema or the database. All of them may be temporary, including a full disk, a missing
 * permission and missing tables.
 */
export function isDataError(error: unknown): boolean {
  return isJobmillError(error) && !error.retryable && error.statusCode !== 503
}

/** SQLSTATE classes about the connection, rights, the schema, locks and resources of the server. */
const NOT_ABOUT_DATA = /^(?:08|25|26|28|3D|3F|40|42|53|55|57|58)/

/**
 * Whether the database may have refused what the call contains. Locks, lost connections, missing tables and
 * missing resources say nothing about it.
 */
export function isRefusal(error: unknown): boolean {
  if (!isJobmillError(error) || isDataError(error)) return true
  const { severity, code } = (error.cause ?? {}) as { readonly severity?: unknown; readonly code?: unknown }
  return severity === 'ERROR' && !NOT_ABOUT_DATA.test(String(code))
}

/** Stands for the name of a further field in a sentence: see `ErrorDetails.others`. */
export const OTHER = '\uE000'

/** The names and texts of an interface: options of the command line, or fields of a request. */
export interface Words {
  readonly field?: (field: string) => string
  readonly fixes?: FixTexts
}

/** `jobs[3].queue: is not a valid name (got "my queue"). Use letters, digits and …` */
function sentence(what: string, { field, value, fix, others = [] }: ErrorDetails, fixes: FixTexts): string {
  const subject = field === undefined ? '' : `${field}: `
  const got = value === undefined ? '' : ` (got ${value})`
  const text = others.reduce((rest, other) => rest.replace(OTHER, () => other), what)
  const then = fix === undefined ? '' : ` ${ended(fixText(fix, fixes))}`
  return `${subject}${ended(`${text}${got}`)}${then}`
}

function ended(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`
}

/** The parts of each error, so that another interface can word it differently. */
const PARTS = new WeakMap<JobmillError, { readonly what: string; readonly details: ErrorDetails }>()

/** The same error in the words of another interface. */
export function rephrase(error: JobmillError, { field: nameOf = same, fixes }: Words): JobmillError {
  const parts = PARTS.get(error)
  // Created by another copy of the package.
  if (parts === undefined) return error
  const { what, details } = parts
  const { index, field, cause = error } = error
  const renamed = {
    ...details,
    ...(field !== undefined && { field: nameOf(field) }),
    ...(index !== undefined && { index }),
    others: (details.others ?? []).map(nameOf),
    cause,
  }
  return new JobmillError(error.code, what, renamed, fixes)
}

const same = (field: string): string => field

/** The path of a part: `payload.user`, or `payload["a b"]` for a key that would be hard to read otherwise. */
export function pathOf(parent: string, key: string): string {
  if (!/^[\w$-]{1,40}$/.test(key)) return `${parent}[${quoted(key)}]`
  return parent === '' ? key : `${parent}.${key}`
}

/** A value in a form short enough for a message. */
export function quote(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return `an array of ${value.length} ${value.length === 1 ? 'item' : 'items'}`
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString()
  if (typeof value === 'object' && value !== null)
    return collectionText(value) ?? `an object with ${named(Object.keys(value))}`
  return short(typeof value === 'bigint' ? `${value}n` : String(value))
}

/** These have no keys, so they would look like an empty object. */
function collectionText(value: object): string | undefined {
  if (value instanceof Map) return 'a Map'
  if (value instanceof Set) return 'a Set'
  return value instanceof Promise ? 'a Promise' : undefined
}

function quoted(text: string): string {
  return JSON.stringify(short(text))
}

/** At most 40 characters. A surrogate pair counts as one and is never split. */
function short(text: string): string {
  // No character takes more than two code units, so slicing first avoids splitting a long text as a whole.
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
