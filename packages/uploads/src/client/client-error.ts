/** What the client throws: a code, what is wrong, and the fix. */
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
  /** Which option is meant. */
  readonly field?: string
  readonly fix?: string
  /** Of an answer that says no. */
  readonly status?: number
  /** What the server calls it. */
  readonly serverCode?: string
  /** How long the server asks to wait. */
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
      `${field === undefined ? '' : `${field} `}${message}${fix === undefined ? '' : `. ${fix}`}`,
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
}

/** Of an error of the system: ENOSPC and so on. */
export function systemCodeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** What is said where a file system has no second names for a file. */
export const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])
