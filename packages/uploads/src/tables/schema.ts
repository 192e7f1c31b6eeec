/** The tables as queries see them. Times are milliseconds by the database clock, ids are lower-case UUIDs. */
export interface Schema {
  /** One row with the id of this inbox, which marks its blob folder. */
  uploads_inbox: { n: 1; id: string }
  uploads_mailbox: {
    id: string
    name: string
    /** The limits of the mailbox. Null: the limit of the inbox. */
    quota_bytes: number | null
    quota_files: number | null
    max_file_bytes: number | null
    max_request_bytes: number | null
    uploads_at_once: number | null
    /**
     * The sequence number of the last notice. Writers of notices raise it first, so that notices commit in
     * order.
     */
    last_seq: number
    created_at: number
    /**
     * Kept after the files are deleted: the last upload, and the number and time of files that expired
     * without being fetched.
     */
    last_upload_at: number | null
    unfetched_files: number
    unfetched_at: number | null
    /** Access ends at this time, and the sweep deletes the contents. */
    deleted_at: number | null
  }
  uploads_token: {
    id: string
    mailbox: string
    /** The SHA-256 of the token, which is not stored. */
    hash: string
    label: string
    may: May
    created_at: number
    revoked_at: number | null
  }
  uploads_upload: {
    id: string
    mailbox: string
    idempotency_key: string | null
    fingerprint: string
    answer: string
    created_at: number
  }
  uploads_file: {
    mailbox: string
    id: string
    upload: string
    n: number
    name: string
    type: string
    size: number
    /** The size limit when the file arrived; null if it is unknown. */
    max_size: number | null
    sha256: string
    created_at: number
    expires_at: number
    first_fetched_at: number | null
    last_fetched_at: number | null
    fetches: number
    acked_at: number | null
    /** Set by the sweep: the file is hidden, and its blob and row are about to be deleted. */
    swept_at: number | null
  }
  uploads_notice: { mailbox: string; seq: number; file: string; at: number }
  /** An upload in progress. If it never ends, its blobs are found through this row. */
  uploads_staging: { upload: string; mailbox: string; begun_at: number; swept_at: number | null }
  /** Blobs, if they are stored in the database. */
  uploads_chunk: { blob: string; n: number; bytes: Uint8Array }
}

/** The integers beyond 32 bits in results, which some drivers return as strings. */
export const WHOLE: ReadonlySet<string> = new Set([
  'quotaBytes',
  'quotaFiles',
  'maxFileBytes',
  'maxRequestBytes',
  'uploadsPerMailbox',
  'last_seq',
  'size',
  'max_size',
  'created_at',
  'expires_at',
  'first_fetched_at',
  'last_fetched_at',
  'fetches',
  'acked_at',
  'swept_at',
  'files',
  'bytes',
])

/** What a token allows. */
export const MAY = ['upload', 'consume', 'both'] as const
export type May = (typeof MAY)[number]
