/** The error of the client: a code, what is wrong, and the fix. */
export type ClientErrorCode =
  | 'OPTION_INVALID'
  | 'FOLDER_BUSY'
  | 'NOT_STARTED'
  | 'TOKEN_UNREADABLE'
  | 'REFUSED'
  | 'UNREACHABLE'
  | 'ANSWER_BAD'
  | 'FILE_TOO_LARGE'
  | 'FILE_EMPTY'
  | 'FILE_UNREADABLE'

export interface ClientErrorDetails {
  /** The name of the option. */
  readonly field?: string
  readonly fix?: string | undefined
  /** The HTTP status of a refusal. */
  readonly status?: number
  /** The error code of the server. */
  readonly serverCode?: string | undefined
  /** The wait that the server asked for. */
  readonly retryAfterMs?: number
  readonly cause?: unknown
}

export class ClientError extends Error {
  readonly code: ClientErrorCode
  readonly field: string | null
  readonly fix: string | null
  readonly status: number | null
  readonly serverCode: string | null
  readonly retryAfterMs: number

  constructor(code: ClientErrorCode, message: string, details: ClientErrorDetails = {}) {
    const { field, fix, cause } = details
    super(
      `${field === undefined ? '' : `${field}: `}${message}${fix === undefined ? '' : `. ${fix}`}`,
      cause === undefined ? undefined : { cause },
    )
    this.name = 'ClientError'
    this.code = code
    this.field = field ?? null
    this.fix = fix ?? null
    this.status = details.status ?? null
    this.serverCode = details.serverCode ?? null
    this.retryAfterMs = details.retryAfterMs ?? 0
  }

  /** The token is unreadable, or the inbox rejected it. */
  get isToken(): boolean {
    return this.code === 'TOKEN_UNREADABLE' || this.status === 401 || this.status === 403
  }
}

export function invalid(field: string, message: string, fix: string): ClientError {
  return new ClientError('OPTION_INVALID', message, { field, fix })
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
