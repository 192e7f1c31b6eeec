/** The migrations of the tables. Never change a published step. */
import { sql, type Step } from 'jobmill-tables'

const first: Step = async (db, { type, table }) => {
  const bytes = sql.raw(type === 'postgres' ? 'bytea' : 'blob')
  const statements = [
    // The id of the inbox, which marks its blob folder.
    sql`CREATE TABLE ${table('uploads_inbox')} (
      n integer PRIMARY KEY CHECK (n = 1),
      id text NOT NULL
    )`,
    sql`CREATE TABLE ${table('uploads_mailbox')} (
      id text PRIMARY KEY,
      name text NOT NULL,
      quota_bytes bigint CHECK (quota_bytes >= 0),
      quota_files bigint CHECK (quota_files >= 0),
      max_file_bytes bigint CHECK (max_file_bytes > 0),
      max_request_bytes bigint CHECK (max_request_bytes > 0),
      uploads_at_once bigint CHECK (uploads_at_once > 0),
      last_seq bigint NOT NULL DEFAULT 0,
      created_at bigint NOT NULL,
      last_upload_at bigint,
      unfetched_files bigint NOT NULL DEFAULT 0,
      unfetched_at bigint,
      deleted_at bigint
    )`,
    // For the sweep, to find removed mailboxes.
    sql`CREATE INDEX uploads_mailbox_deleted ON ${table('uploads_mailbox')} (deleted_at) WHERE deleted_at IS NOT NULL`,
    // For Mission Control, which shows these mailboxes after their files are gone.
    sql`CREATE INDEX uploads_mailbox_unfetched ON ${table('uploads_mailbox')} (unfetched_at) WHERE unfetched_at IS NOT NULL`,
    sql`CREATE TABLE ${table('uploads_token')} (
      id text PRIMARY KEY,
      mailbox text NOT NULL,
      hash text NOT NULL UNIQUE,
      label text NOT NULL,
      may text NOT NULL CHECK (may IN ('upload', 'consume', 'both')),
      created_at bigint NOT NULL,
      revoked_at bigint
    )`,
    sql`CREATE INDEX uploads_token_mailbox ON ${table('uploads_token')} (mailbox)`,
    sql`CREATE TABLE ${table('uploads_upload')} (
      id text PRIMARY KEY,
      mailbox text NOT NULL,
      idempotency_key text,
      fingerprint text NOT NULL,
      answer text NOT NULL,
      created_at bigint NOT NULL
    )`,
    // Of two requests with one key, the first to commit is the upload.
    sql`CREATE UNIQUE INDEX uploads_upload_key ON ${table('uploads_upload')} (mailbox, idempotency_key)
      WHERE idempotency_key IS NOT NULL`,
    sql`CREATE INDEX uploads_upload_created ON ${table('uploads_upload')} (created_at)`,
    // Without a foreign key to the mailbox, because files are evidence of receipt: the sweep deletes them,
    // never a cascade. The mailbox comes first, so that a lookup of another mailbox's file costs the same as
    // one of an unknown file. The size limit at arrival is kept, because limits differ by mailbox. The sweep
    // relies on the bound of blob numbers.
    sql`CREATE TABLE ${table('uploads_file')} (
      mailbox text NOT NULL,
      id text NOT NULL,
      upload text NOT NULL,
      n integer NOT NULL CHECK (n >= 0 AND n < 64),
      name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
      type text NOT NULL DEFAULT '',
      size bigint NOT NULL CHECK (size > 0),
      max_size bigint CHECK (size <= max_size),
      sha256 text NOT NULL CHECK (length(sha256) = 64),
      created_at bigint NOT NULL,
      expires_at bigint NOT NULL,
      first_fetched_at bigint,
      last_fetched_at bigint,
      fetches bigint NOT NULL DEFAULT 0,
      acked_at bigint,
      swept_at bigint,
      PRIMARY KEY (mailbox, id)
    )`,
    // One index per sweep reason.
    sql`CREATE INDEX uploads_file_acked ON ${table('uploads_file')} (acked_at)
      WHERE acked_at IS NOT NULL AND swept_at IS NULL`,
    sql`CREATE INDEX uploads_file_pending ON ${table('uploads_file')} (expires_at)
      WHERE acked_at IS NULL AND swept_at IS NULL`,
    sql`CREATE INDEX uploads_file_swept ON ${table('uploads_file')} (mailbox, id) WHERE swept_at IS NOT NULL`,
    // For the usage of a mailbox, without reading its files.
    sql`CREATE INDEX uploads_file_size ON ${table('uploads_file')} (mailbox, size) WHERE swept_at IS NULL`,
    // For the orphan scan, to check whether an upload has rows.
    sql`CREATE INDEX uploads_file_upload ON ${table('uploads_file')} (upload)`,
    // To count requests for files of other mailboxes.
    sql`CREATE INDEX uploads_file_id ON ${table('uploads_file')} (id)`,
    sql`CREATE TABLE ${table('uploads_notice')} (
      mailbox text NOT NULL,
      seq bigint NOT NULL,
      file text NOT NULL,
      at bigint NOT NULL,
      PRIMARY KEY (mailbox, seq)
    )`,
    sql`CREATE UNIQUE INDEX uploads_notice_file ON ${table('uploads_notice')} (mailbox, file)`,
    sql`CREATE TABLE ${table('uploads_staging')} (
      upload text PRIMARY KEY,
      mailbox text NOT NULL,
      begun_at bigint NOT NULL,
      swept_at bigint
    )`,
    sql`CREATE INDEX uploads_staging_begun ON ${table('uploads_staging')} (begun_at)`,
    sql`CREATE TABLE ${table('uploads_chunk')} (
      blob text NOT NULL,
      n integer NOT NULL,
      bytes ${bytes} NOT NULL,
      PRIMARY KEY (blob, n)
    )`,
  ]
  for (const statement of statements) await statement.execute(db)
}

export const STEPS: readonly Step[] = [first]
