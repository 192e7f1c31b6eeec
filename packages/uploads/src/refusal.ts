/** All HTTP errors (problem details, RFC 9457) by code, with their status and title. */
export const REFUSALS = {
  BODY_INVALID: [400, 'Invalid request body'],
  CURSOR_INVALID: [400, 'Invalid cursor'],
  FILE_EMPTY: [400, 'A file is empty'],
  FILES_MISSING: [400, 'The request has no files'],
  FILES_TOO_MANY: [400, 'The request has too many files'],
  ID_INVALID: [400, 'An id is not a UUID'],
  KEY_INVALID: [400, 'Invalid idempotency key'],
  MULTIPART_BROKEN: [400, 'Malformed multipart/form-data body'],
  OPTION_INVALID: [400, 'Invalid parameter value'],
  OPTION_UNKNOWN: [400, 'Unknown parameter'],
  PART_UNKNOWN: [400, 'Unknown part in the body'],
  TOKEN_WRONG: [401, 'Missing or wrong token for this mailbox'],
  FORBIDDEN: [403, 'The token does not allow this'],
  FILE_UNKNOWN: [404, 'File not found in this mailbox'],
  MAILBOX_UNKNOWN: [404, 'Mailbox not found'],
  ROUTE_UNKNOWN: [404, 'Route not found'],
  METHOD_WRONG: [405, 'Method not allowed'],
  TOO_SLOW: [408, 'The request took too long'],
  HASH_DIFFERS: [409, 'The SHA-256 does not match'],
  CURSOR_GONE: [410, 'The cursor is not valid for this mailbox'],
  ETAG_DIFFERS: [412, 'The ETag does not match'],
  FILE_TOO_LARGE: [413, 'A file is too large'],
  REQUEST_TOO_LARGE: [413, 'The request is too large'],
  MEDIA_TYPE_WRONG: [415, 'The body must be multipart/form-data'],
  RANGE_UNSATISFIABLE: [416, 'Range not satisfiable'],
  KEY_REUSED: [422, 'The idempotency key was used for different files'],
  LISTENERS_TOO_MANY: [429, 'Too many open event streams and long polls for this mailbox'],
  MAILBOX_BUSY: [429, 'Too many uploads to this mailbox at once'],
  QUOTA_FILES: [429, 'File quota of the mailbox exceeded'],
  TOO_MANY: [429, 'Too many uploads at once'],
  TRIES_TOO_MANY: [429, 'Too many wrong tokens from this address'],
  INTERNAL: [500, 'Internal error; see the log of the inbox'],
  BUSY: [503, 'Too many open event streams and long polls'],
  STOPPING: [503, 'The inbox is shutting down'],
  UNAVAILABLE: [503, 'The inbox is temporarily unavailable'],
  QUOTA_BYTES: [507, 'Size quota of the mailbox exceeded'],
  DISK_FULL: [507, 'No space left to store files'],
} as const satisfies Record<string, readonly [number, string]>

export type RefusalCode = keyof typeof REFUSALS

/** The fixes that do not depend on the request. */
const FIXES: Readonly<Partial<Record<RefusalCode, string>>> = {
  FILE_EMPTY: 'Remove it from the request',
  FILES_MISSING: 'Send each file as a part named files, with a filename',
  KEY_INVALID: 'Pass a key such as a UUID',
  MULTIPART_BROKEN: 'Send multipart/form-data according to RFC 7578',
  PART_UNKNOWN: 'Use the name "files" for every part that contains a file',
  TOO_SLOW: 'Retry the upload, in smaller requests if the connection is slow',
  HASH_DIFFERS: 'Fetch the file again, check its SHA-256, and acknowledge the file with this hash',
  ETAG_DIFFERS: 'Omit the header, or send this ETag',
  FILE_TOO_LARGE: 'Split the file, or raise the limit of the mailbox',
  MEDIA_TYPE_WRONG: 'Send multipart/form-data with its boundary, and each file as a part named files',
  TRIES_TOO_MANY: 'Wait a moment, then send a token of this mailbox',
}

export interface RefusalDetails {
  readonly detail?: string
  /** The part of the request that is wrong. */
  readonly field?: string
  readonly fix?: string
  /**
   * For size limits: the file, or null before the first one, and the declared size or the bytes received so
   * far.
   */
  readonly file?: string | null
  readonly size?: number
  readonly max?: number
  /** In seconds. */
  readonly retryAfter?: number
  readonly headers?: Readonly<Record<string, string>>
}

export class Refusal extends Error {
  readonly code: RefusalCode
  readonly status: number
  readonly details: RefusalDetails

  constructor(code: RefusalCode, details: RefusalDetails = {}, cause?: unknown) {
    const [status, title] = REFUSALS[code]
    const { detail = title, field, fix = FIXES[code] } = details
    super(
      `${field === undefined ? '' : `${field}: `}${detail}${fix === undefined ? '' : `. ${fix}`}`,
      cause === undefined ? undefined : { cause },
    )
    this.name = 'Refusal'
    this.code = code
    this.status = status
    this.details = { ...details, ...(fix !== undefined && { fix }) }
  }
}
