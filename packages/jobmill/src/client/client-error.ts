/**
 * The error of the client. It has the codes of the library and the HTTP API, without their texts: the API
 * sends the text, and a browser should not load a catalog of errors.
 */
import type { ErrorCode } from '../job/errors.ts'

/** The codes that only the HTTP API uses. A test of the server compares them with its list. */
export type HttpErrorCode =
  | 'BODY_NOT_JSON'
  | 'BULK_UNSERVED'
  | 'BUSY'
  | 'FORBIDDEN'
  | 'HOST_INVALID'
  | 'INTERNAL'
  | 'MEDIA_TYPE_WRONG'
  | 'NOT_LOCAL'
  | 'ORIGIN_WRONG'
  | 'ROUTE_UNKNOWN'
  | 'SIGN_IN_NEEDED'
  | 'STATE_WRONG'
  | 'TOKEN_MISSING'
  | 'TOKEN_UNKNOWN'
  | 'TOO_LARGE'
  | 'TOO_MANY'

/** `API_UNREACHABLE`: no answer of the HTTP API arrived, and nothing was changed. */
export type ClientErrorCode = ErrorCode | HttpErrorCode | 'API_UNREACHABLE'

interface Details {
  readonly field?: string | undefined
  readonly fix?: string | undefined
  readonly index?: number | undefined
  /** The HTTP status. */
  readonly status?: number | undefined
  readonly cause?: unknown
}

export class ClientError extends Error {
  readonly code: ClientErrorCode
  declare readonly field: string | undefined
  declare readonly fix: string | undefined
  declare readonly index: number | undefined
  declare readonly status: number | undefined

  constructor(code: ClientErrorCode, message: string, { cause, ...details }: Details = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ClientError'
    this.code = code
    for (const [key, value] of Object.entries(details))
      if (value !== undefined) Object.defineProperty(this, key, { value, enumerable: true })
    // The brand of JobmillError, so that isJobmillError recognizes it.
    Object.defineProperty(this, Symbol.for('jobmill.error'), { value: true })
  }

  /** True when the same call may succeed if you retry it. */
  get retryable(): boolean {
    const { code, status } = this
    if (code === 'API_UNREACHABLE') return status === undefined || status >= 500
    // The API answers with these when a caller may retry.
    return code === 'OUTCOME_UNKNOWN' || status === 429 || status === 503
  }
}
