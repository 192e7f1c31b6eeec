/** Errors as callers get them: problem+json (RFC 9457) with the codes of the library, and nothing of what is inside. */
import { ERRORS, type ErrorCode, isJobmillError, statusCodeOf } from '../job/errors.ts'
import { asSent } from './as-sent.ts'

/** What only the door knows. */
export const HTTP_CODES = {
  BODY_NOT_JSON: 'The body cannot be read as JSON',
  BULK_UNSERVED: 'No living process runs acts on many jobs',
  BUSY: 'This process has as much to do as it may; ask again in a moment',
  FORBIDDEN: 'Your role does not allow this',
  HOST_INVALID: 'The Host header is not a valid name or address',
  INTERNAL: 'Something went wrong here; the log of this process says more',
  MEDIA_TYPE_WRONG: 'The body has to be JSON, and to say so',
  NOT_LOCAL: 'Without authentication only this machine is answered, and not through a proxy',
  ORIGIN_WRONG: 'A page of another origin must not do this',
  ROUTE_UNKNOWN: 'There is nothing at this address',
  SIGN_IN_NEEDED: 'The application that serves this does not know who asks',
  STATE_WRONG: 'The state of the job does not allow this',
  TOKEN_MISSING: 'A token is needed here',
  TOKEN_UNKNOWN: 'Nobody here has this token',
  TOO_LARGE: 'The body is larger than it may be',
  TOO_MANY: 'Too many requests; wait a moment',
} as const

type HttpCode = keyof typeof HTTP_CODES
export type ProblemCode = ErrorCode | HttpCode

interface Problem {
  /** Where the code is explained. */
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: ProblemCode
  readonly detail?: string
  readonly field?: string
  readonly fix?: string
  /** Of a call with many items, the one that it is about. */
  readonly index?: number
}

/** Of the codes that only the door knows; those of the library have theirs. */
const STATUS: Readonly<Record<HttpCode, number>> = {
  BODY_NOT_JSON: 400,
  BULK_UNSERVED: 503,
  BUSY: 503,
  FORBIDDEN: 403,
  HOST_INVALID: 400,
  INTERNAL: 500,
  MEDIA_TYPE_WRONG: 415,
  NOT_LOCAL: 403,
  ORIGIN_WRONG: 403,
  ROUTE_UNKNOWN: 404,
  SIGN_IN_NEEDED: 401,
  STATE_WRONG: 409,
  TOKEN_MISSING: 401,
  TOKEN_UNKNOWN: 401,
  TOO_LARGE: 413,
  TOO_MANY: 429,
}

export function statusOf(code: ProblemCode): number {
  return code in STATUS ? STATUS[code as HttpCode] : statusCodeOf(code as ErrorCode)
}

/** In seconds; for those who may ask again. */
const RETRY_AFTER: Readonly<Partial<Record<number, number>>> = { 429: 1, 503: 2 }

interface Said {
  readonly detail?: string | undefined
  readonly field?: string | undefined
  readonly fix?: string | undefined
  readonly index?: number | undefined
  readonly retryAfter?: number
}

export function problem(code: ProblemCode, { retryAfter, ...said }: Said = {}): Response {
  const status = statusOf(code)
  const body: Problem = {
    type: `urn:jobmill:${code}`,
    title: code in HTTP_CODES ? HTTP_CODES[code as HttpCode] : ERRORS[code as ErrorCode],
    status,
    code,
    ...Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)),
  }
  const headers = new Headers({ 'content-type': 'application/problem+json' })
  const after = retryAfter ?? RETRY_AFTER[status]
  if (after !== undefined) headers.set('retry-after', String(after))
  if (code === 'TOKEN_MISSING' || code === 'TOKEN_UNKNOWN') headers.set('www-authenticate', 'Bearer')
  return Response.json(body, { status, headers })
}

/** Or whoever may enqueue could do what they may not. */
export function onlyByBulk(field: string): Response {
  const detail = 'acts on many jobs have a route of their own'
  return problem('FORBIDDEN', { detail, field, fix: 'Use POST /api/bulk' })
}

/** Nobody has to be told that this process was asked to stop. */
const OURS: ReadonlySet<string> = new Set(['MILL_STOPPED', 'MILL_NOT_STARTED', 'STORE_CLOSED'])

/**
 * What is said of a fault on our side is what its code says: messages of databases have statements, addresses and paths in them. `inAddress`: nothing was sent
 * but the address.
 */
export function problemOf(
  error: unknown,
  { unforeseen, inAddress }: { readonly unforeseen: (error: unknown) => void; readonly inAddress: boolean },
): Response {
  if (!isJobmillError(error)) {
    unforeseen(error)
    return problem('INTERNAL')
  }
  if (statusOf(error.code) >= 500 || error.code === 'DATA_REFUSED') {
    if (!OURS.has(error.code)) unforeseen(error)
    return problem(error.code)
  }
  const { code, message: detail, field, fix, index } = asSent(error, inAddress)
  return problem(code, { detail, field, fix, index })
}
