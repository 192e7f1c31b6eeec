/** The transaction that makes an upload visible: quota, files, notices, response and jobs. */
import { type Kysely, sql } from 'jobmill-tables'
import { Refusal } from '../../refusal.ts'
import type { Schema } from '../../tables/schema.ts'
import { type FileRow, fileView, uriOf } from '../deliver/file-view.ts'
import { type Answer, earlierOf, Repeated } from './idempotency.ts'
import type { Inside } from '../inside.ts'
import type { MailboxLimits } from '../limits.ts'
import { checkQuota, usageOf } from './quota.ts'
import type { TakenIn } from './take-in.ts'

/** The tables inside the transaction of the caller, and the transaction as the mill takes it. */
export interface CallersTransaction {
  readonly db: Kysely<Schema>
  readonly tx: never
}

export interface NewUpload {
  readonly upload: string
  readonly mailbox: string
  readonly token: string | null
  readonly isStaged: boolean
  readonly within?: CallersTransaction
  readonly limits: MailboxLimits
  readonly key: string | null
  readonly fingerprint: string
  readonly files: readonly TakenIn[]
}

/** `onCommit` is called right before the commit. An earlier failure leaves nothing behind. */
export async function writeRows(inside: Inside, given: NewUpload, onCommit: () => void): Promise<Answer> {
  const { tables, fault } = inside
  const { within } = given
  if (within !== undefined) return inSavepoint(within, (db, tx) => write(db, tx))
  return tables.transaction(async (db, tx) => {
    const answer = await write(db, tx)
    onCommit()
    return answer
  })

  async function write(db: Kysely<Schema>, tx: never): Promise<Answer> {
    const lastSeq = await enter(inside, db, given)
    if (given.isStaged) await unstage(db, given)
    // Check this before the quota, which the first of two requests with one key may have used up.
    if (given.key !== null && (await earlierOf(db, given.mailbox, given.key)) !== null) throw new Repeated()
    const bytes = given.files.reduce((sum, { size }) => sum + size, 0)
    checkQuota(await usageOf(db, given.mailbox), { files: given.files.length, bytes }, given.limits)
    const rows = await writeFiles(inside, db, given)
    await db
      .insertInto('uploads_notice')
      .values(
        rows.map(({ id, created_at }, at) => ({
          mailbox: given.mailbox,
          seq: lastSeq - rows.length + at + 1,
          file: id,
          at: created_at,
        })),
      )
      .execute()
    const answer: Answer = { upload: given.upload, files: rows.map(answered) }
    await db
      .insertInto('uploads_upload')
      .values({
        id: given.upload,
        mailbox: given.mailbox,
        idempotency_key: given.key,
        fingerprint: given.fingerprint,
        answer: JSON.stringify(answer),
        created_at: tables.now,
      })
      .execute()
    await inside.bridge()?.enqueue(rows.map(payloadOf), tx)
    await fault('receive:rows')
    return answer
  }
}

/** Runs in a savepoint, so that a failure leaves the caller's transaction usable. */
async function inSavepoint<R>(
  { db, tx }: CallersTransaction,
  work: (db: Kysely<Schema>, tx: never) => Promise<R>,
): Promise<R> {
  await sql`SAVEPOINT jobmill_uploads`.execute(db)
  try {
    const result = await work(db, tx)
    await sql`RELEASE SAVEPOINT jobmill_uploads`.execute(db)
    return result
  } catch (error) {
    await sql`ROLLBACK TO SAVEPOINT jobmill_uploads`.execute(db)
    await sql`RELEASE SAVEPOINT jobmill_uploads`.execute(db)
    throw error
  }
}

/** Reserves sequence numbers by updating the mailbox row, which serializes writers until the commit. */
async function enter(
  { tables }: Inside,
  db: Kysely<Schema>,
  { mailbox, token, files }: NewUpload,
): Promise<number> {
  const row = await db
    .updateTable('uploads_mailbox')
    .set({ last_seq: sql<number>`last_seq + ${files.length}`, last_upload_at: tables.now })
    .where('id', '=', mailbox)
    .where('deleted_at', 'is', null)
    .returning('last_seq')
    .executeTakeFirst()
  // The mailbox was removed, or the token revoked, during the upload.
  if (token === null && row === undefined) throw new Refusal('MAILBOX_UNKNOWN')
  if (row === undefined || (token !== null && !(await isValid(db, token)))) throw new Refusal('TOKEN_WRONG')
  return row.last_seq
}

async function isValid(db: Kysely<Schema>, token: string): Promise<boolean> {
  const row = await db
    .selectFrom('uploads_token')
    .select('id')
    .where('id', '=', token)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

async function unstage(db: Kysely<Schema>, { upload }: NewUpload): Promise<void> {
  const row = await db
    .deleteFrom('uploads_staging')
    .where('upload', '=', upload)
    .where('swept_at', 'is', null)
    .returning('upload')
    .executeTakeFirst()
  // The sweep considered this upload abandoned, and may have deleted its blobs.
  if (row === undefined)
    throw new Refusal('TOO_SLOW', { fix: 'Retry the upload, in smaller requests if the connection is slow' })
}

async function writeFiles(
  { tables, limits, newId }: Inside,
  db: Kysely<Schema>,
  { mailbox, upload, files, limits: own }: NewUpload,
): Promise<FileRow[]> {
  const rows = await db
    .insertInto('uploads_file')
    .values(
      files.map(({ name, type, size, sha256 }, n) => ({
        mailbox,
        id: newId(),
        upload,
        n,
        name,
        type,
        size,
        max_size: own.maxFileBytes,
        sha256,
        created_at: tables.now,
        expires_at: sql<number>`${tables.now} + ${sql.lit(limits.expireAfterMs)}`,
        first_fetched_at: null,
        last_fetched_at: null,
        fetches: 0,
        acked_at: null,
        swept_at: null,
      })),
    )
    .returningAll()
    .execute()
  // The order of returned rows is not guaranteed.
  return rows.toSorted((a, b) => a.n - b.n)
}

function answered(row: FileRow): Answer['files'][number] {
  const { id, uri, name, mimeType, size, sha256, expiresAt } = fileView(row)
  return { id, uri, name, mimeType, size, sha256, expiresAt }
}

function payloadOf({ mailbox, id, name, type, size, sha256 }: FileRow) {
  return { uri: uriOf(mailbox, id), mailbox, fileId: id, name, type, size, sha256 }
}
