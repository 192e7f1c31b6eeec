/** The tables as queries see them. Instants are milliseconds by the database's clock, ids are UUIDs in lower case. */
export interface Schema {
  /** One row: which inbox this is, for places outside of the database that belong to it. */
  uploads_inbox: { n: 1; id: string }
  uploads_mailbox: {
    id: string
    name: string
    /** Null: without bound. */
    quota_bytes: number | null
    quota_files: number | null
    /** Null: as the inbox has it. */
    max_file_bytes: number | null
    max_request_bytes: number | null
    uploads_at_once: number | null
    /** The number of its last notice. Whoever writes notices raises it first, so they are committed in the order of their numbers. */
    last_seq: number
    created_at: number
    /** Kept when the files are long gone: when the last one came, and how many expired that nobody had fetched, the last of them when. */
    last_upload_at: number | null
    unfetched_files: number
    unfetched_at: number | null
    /** From then on nobody gets in, and the sweep takes away what it has. */
    deleted_at: number | null
  }
  uploads_token: {
    id: string
    mailbox: string
    /** SHA-256 of the token, which nobody can be told again. */
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
    /** The most it may have had when it came; null of those from before this was kept. */
    max_size: number | null
    sha256: string
    created_at: number
    expires_at: number
    first_fetched_at: number | null
    last_fetched_at: number | null
    fetches: number
    acked_at: number | null
    /** Marked by the sweep: it is gone for everybody, and its blob and this row are about to be. */
    swept_at: number | null
  }
  uploads_notice: { mailbox: string; seq: number; file: string; at: number }
  /** An upload on its way: whatever blobs it has made are found by this row if it never ends. */
  uploads_staging: { upload: string; mailbox: string; begun_at: number; swept_at: number | null }
  /** Blobs, where they are kept in the database. */
  uploads_chunk: { blob: string; n: number; bytes: Uint8Array }
}

/** Columns with whole numbers beyond 32 bits, which some drivers return as text. */
export const WHOLE: ReadonlySet<string> = new Set([
  'quota_bytes',
  'quota_files',
  'max_file_bytes',
  'max_request_bytes',
  'uploads_at_once',
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

/** What the holder of a token may do. */
export const MAY = ['upload', 'consume', 'both'] as const
export type May = (typeof MAY)[number]
