/** Everything that is said no to, by its code: with its status for HTTP and what is said of it everywhere. */
export const REFUSALS = {
  BODY_INVALID: [400, 'The body is not what is taken here'],
  CURSOR_INVALID: [400, 'The cursor was not given out here'],
  FILE_EMPTY: [400, 'A file has no bytes'],
  FILES_MISSING: [400, 'The request has no files'],
  FILES_TOO_MANY: [400, 'The request has too many files'],
  ID_INVALID: [400, 'An id is not a UUID'],
  KEY_INVALID: [400, 'The idempotency key cannot be used'],
  MULTIPART_BROKEN: [400, 'The body cannot be read as multipart/form-data'],
  OPTION_INVALID: [400, 'A parameter has a value that cannot be used'],
  OPTION_UNKNOWN: [400, 'There is no parameter of this name'],
  PART_UNKNOWN: [400, 'A part of the body has a name that is not known'],
  TOKEN_WRONG: [401, 'A token of this mailbox is needed'],
  FORBIDDEN: [403, 'This token is not for that'],
  FILE_UNKNOWN: [404, 'There is no such file in this mailbox'],
  MAILBOX_UNKNOWN: [404, 'There is no such mailbox'],
  ROUTE_UNKNOWN: [404, 'There is nothing at this address'],
  METHOD_WRONG: [405, 'That cannot be done with what is at this address'],
  TOO_SLOW: [408, 'The request took too long'],
  HASH_DIFFERS: [409, 'The file has another SHA-256'],
  CURSOR_GONE: [410, 'The cursor points at nothing that this mailbox has had'],
  ETAG_DIFFERS: [412, 'The file has another ETag'],
  FILE_TOO_LARGE: [413, 'A file is larger than it may be'],
  REQUEST_TOO_LARGE: [413, 'The request is larger than it may be'],
  MEDIA_TYPE_WRONG: [415, 'The body has to be multipart/form-data'],
  RANGE_UNSATISFIABLE: [416, 'The file has no such bytes'],
  KEY_REUSED: [422, 'The idempotency key was used for other files'],
  LISTENERS_TOO_MANY: [429, 'Too many requests wait for files of this mailbox'],
  MAILBOX_BUSY: [429, 'Too many uploads to this mailbox at once'],
  QUOTA_FILES: [429, 'The mailbox has as many files as it may'],
  TOO_MANY: [429, 'Too many uploads at once'],
  TRIES_TOO_MANY: [429, 'Too many wrong tokens came from this address'],
  INTERNAL: [500, 'Something went wrong here; the log of this process says more'],
  BUSY: [503, 'Too many requests wait for files in this process'],
  STOPPING: [503, 'This process is about to stop'],
  UNAVAILABLE: [503, 'The database is not available'],
  QUOTA_BYTES: [507, 'The mailbox has as many bytes as it may'],
  DISK_FULL: [507, 'There is no room left to keep the files'],
} as const satisfies Record<string, readonly [number, string]>

export type RefusalCode = keyof typeof REFUSALS

export interface RefusalDetails {
  readonly detail?: string
  /** Which part of the request is meant. */
  readonly field?: string
  readonly fix?: string
  /** What is too large: which file, null when none has been met yet, and the size that was declared, or what had come when it was refused. */
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
    const { detail = title, field, fix } = details
    super(
      `${field === undefined ? '' : `${field}: `}${detail}${fix === undefined ? '' : `. ${fix}`}`,
      cause === undefined ? undefined : { cause },
    )
    this.name = 'Refusal'
    this.code = code
    this.status = status
    this.details = details
  }
}
