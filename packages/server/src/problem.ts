/** Error responses as problem+json (RFC 9457) with the codes of the library, without internal details. */
import { type ErrorCode, isJobmillError } from 'jobmill'
import { statusCodeOf } from 'jobmill/internal'
import { ERRORS } from 'jobmill/store'
import { asSent } from './as-sent.ts'

/** The codes and titles that only the HTTP API uses. */
export const HTTP_CODES = {
  BODY_NOT_JSON: 'Invalid JSON in the request body',
  BULK_UNSERVED: 'No worker for bulk actions',
  BUSY: 'Server busy; try again in a moment',
  FORBIDDEN: 'Not allowed for your role',
  HOST_INVALID: 'Invalid Host header',
  INTERNAL: 'Internal error; see the log of this process',
  MEDIA_TYPE_WRONG: 'The request body must be JSON, with content-type application/json',
  NOT_LOCAL: 'Without authentication, only direct requests from this machine are allowed',
  ORIGIN_WRONG: 'Cross-origin requests cannot make changes',
  ROUTE_UNKNOWN: 'Route not found',
  SIGN_IN_NEEDED: 'Not signed in to the host application',
  STATE_WRONG: 'Not allowed in the current state of the job',
  TOKEN_MISSING: 'Token required',
  TOKEN_UNKNOWN: 'Unknown token',
  TOO_LARGE: 'Request body too large',
  TOO_MANY: 'Too many requests; try again in a moment',
} as const

type HttpCode = keyof typeof HTTP_CODES
export type ProblemCode = ErrorCode | HttpCode

interface Problem {
  /** Identifies the code, as a URN. */
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: ProblemCode
  readonly detail?: string
  readonly field?: string
  readonly fix?: string
  /** The index of the affected item, in a call with many items. */
  readonly index?: number
}

/** The status of the codes that only the HTTP API uses; the library defines the others. */
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

/** Seconds to wait, for responses that the caller may retry. */
const RETRY_AFTER: Readonly<Partial<Record<number, number>>> = { 429: 1, 503: 2 }

interface Details {
  readonly detail?: string | undefined
  readonly field?: string | undefined
  readonly fix?: string | undefined
  readonly index?: number | undefined
  readonly retryAfter?: number
}

export function problem(code: ProblemCode, { retryAfter, ...details }: Details = {}): Response {
  const status = statusOf(code)
  const body: Problem = {
    type: `urn:jobmill:${code}`,
    title: code in HTTP_CODES ? HTTP_CODES[code as HttpCode] : ERRORS[code as ErrorCode],
    status,
    code,
    ...Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined)),
  }
  const headers = new Headers({ 'content-type': 'application/problem+json' })
  const after = retryAfter ?? RETRY_AFTER[status]
  if (after !== undefined) headers.set('retry-after', String(after))
  if (code === 'TOKEN_MISSING' || code === 'TOKEN_UNKNOWN') headers.set('www-authenticate', 'Bearer')
  return Response.json(body, { status, headers })
}

/** Refuses bulk actions as new jobs or schedules, which would bypass the role check of /api/bulk. */
export function onlyByBulk(field: string): Response {
  const detail = 'bulk actions cannot be enqueued or scheduled as jobs'
  return problem('FORBIDDEN', { detail, field, fix: 'Use POST /api/bulk' })
}

/** Errors of a normal shutdown, which are not logged. */
const OURS: ReadonlySet<string> = new Set(['MILL_STOPPED', 'MILL_NOT_STARTED', 'STORE_CLOSED'])

/**
 * Internal errors show only the title of their code, because messages of databases contain statements,
 * addresses and paths. `inAddress` means that the request consisted of its URL only.
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
