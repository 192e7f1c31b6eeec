/** Error responses as problem+json (RFC 9457) with the codes of the library, without internal details. */
import { z } from '@hono/zod-openapi'
import { type ErrorCode, isJobmillError } from 'jobmill'
import { ALERT_KIND, BULK_KIND, omitUndefined, statusCodeOf } from 'jobmill/internal'
import { ERRORS } from 'jobmill/store'
import { asSent } from './as-sent.ts'

/** The codes that only the HTTP API uses, with their status and title; the library defines the others. */
export const HTTP_CODES = {
  BODY_NOT_JSON: [400, 'Invalid JSON in the request body'],
  BULK_UNSERVED: [503, 'No worker for bulk actions'],
  BUSY: [503, 'Server busy; try again in a moment'],
  FORBIDDEN: [403, 'Not allowed for your role'],
  HOST_INVALID: [400, 'Invalid Host header'],
  INTERNAL: [500, 'Internal error; see the log of this process'],
  MEDIA_TYPE_WRONG: [415, 'The request body must be JSON, with content-type application/json'],
  NOT_LOCAL: [403, 'Without authentication, only direct requests from this machine are allowed'],
  ORIGIN_WRONG: [403, 'Cross-origin requests cannot make changes'],
  ROUTE_UNKNOWN: [404, 'Route not found'],
  SIGN_IN_NEEDED: [401, 'Not signed in to the host application'],
  STATE_WRONG: [409, 'Not allowed in the current state of the job'],
  TOKEN_MISSING: [401, 'Token required'],
  TOKEN_UNKNOWN: [401, 'Unknown token'],
  TOO_LARGE: [413, 'Request body too large'],
  TOO_MANY: [429, 'Too many requests; try again in a moment'],
} as const

type HttpCode = keyof typeof HTTP_CODES
export type ProblemCode = ErrorCode | HttpCode

/** `type` identifies the code, as a URN. `index` is that of the affected item, in a call with many items. */
export const problemShape = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    detail: z.string().optional(),
    field: z.string().optional(),
    fix: z.string().optional(),
    index: z.int().optional(),
  })
  .openapi('Problem')

type Problem = z.infer<typeof problemShape>

export function statusOf(code: ProblemCode): number {
  return code in HTTP_CODES ? HTTP_CODES[code as HttpCode][0] : statusCodeOf(code as ErrorCode)
}

/** Seconds to wait, for responses that the caller may retry. */
const RETRY_AFTER: Readonly<Partial<Record<number, number>>> = { 429: 1, 503: 2 }

type Details = Partial<Pick<Problem, 'detail' | 'field' | 'fix' | 'index'>> & { readonly retryAfter?: number }

export function problem(code: ProblemCode, { retryAfter, ...details }: Details = {}): Response {
  const status = statusOf(code)
  const title = code in HTTP_CODES ? HTTP_CODES[code as HttpCode][1] : ERRORS[code as ErrorCode]
  const body: Problem = { type: `urn:jobmill:${code}`, title, status, code, ...omitUndefined(details) }
  const headers = new Headers({ 'content-type': 'application/problem+json' })
  const after = retryAfter ?? RETRY_AFTER[status]
  if (after !== undefined) headers.set('retry-after', String(after))
  if (code === 'TOKEN_MISSING' || code === 'TOKEN_UNKNOWN') headers.set('www-authenticate', 'Bearer')
  return Response.json(body, { status, headers })
}

/**
 * Refuses kinds of Jobmill itself as new jobs or schedules, which would bypass the role check of their
 * routes: a bulk action may delete jobs, and an alert is signed. Null for any other kind.
 */
export function refuseOwnKind(kind: string, field: string): Response | null {
  const refuse = (what: string, fix: string): Response =>
    problem('FORBIDDEN', { detail: `${what} cannot be enqueued or scheduled as jobs`, field, fix })
  if (kind === BULK_KIND) return refuse('bulk actions', 'Use POST /api/bulk')
  return kind === ALERT_KIND ? refuse('alerts', 'Use POST /api/alerts/{name}/test') : null
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
