/** The transaction that makes an upload visible: quota, files, notices, response and jobs. */
import { type Kysely, sql } from 'jobmill-tables'
import { Refusal } from '../../refusal.ts'
import type { Schema } from '../../tables/schema.ts'
import { type FileRow, fileView } from '../deliver/file-view.ts'
import { type Answer, earlierOf, Repeated } from './idempotency.ts'
import type { Inside } from '../inside.ts'
import type { MailboxLimits } from '../limits.ts'
import { checkQuota, usageOf } from './quota.ts'
import type { Incoming, TakenIn } from './take-in.ts'

export interface UploadRequest {
  readonly mailbox: string
  /** The id of the token; null if the program itself or its `authenticate` identified the sender. */
  readonly token: string | null
  readonly limits: MailboxLimits
  /** Null for none. */
  readonly key: string | null
  readonly files: AsyncIterable<Incoming>
  readonly signal: AbortSignal
  /**
   * The transaction of the caller for the rows: the tables inside it, and the transaction as the mill takes
   * it. Omit it to use our own.
   */
  readonly within?: { readonly db: Kysely<Schema>; readonly tx: never }
}

export interface NewUpload extends Omit<UploadRequest, 'files' | 'signal'> {
  readonly upload: string
  readonly isStaged: boolean
  readonly fingerprint: string
  readonly files: readonly TakenIn[]
}

/** `onCommit` is called right before the commit. An earlier failure leaves nothing behind. */
export async function writeRows(inside: Inside, given: NewUpload, onCommit: () => void): Promise<Answer> {
  const { tables, fault } = inside
  const { within } = given
  if (within !== undefined) return inSavepoint(within.db, () => write(within.db, within.tx))
  return tables.transaction(async (db, tx) => {
    const answer = await write(db, tx)
    onCommit()
    return answer
  })

  async function write(db: Kysely<Schema>, tx: never): Promise<Answer> {
    const { mailbox, key, upload, fingerprint, files } = given
    const lastSeq = await enter(inside, db, given)
    if (given.isStaged) await unstage(db, given)
    // Check this before the quota, which the first of two requests with one key may have used up.
    if (key !== null && (await earlierOf(db, { mailbox, idempotency_key: key })) !== null)
      throw new Repeated()
    const bytes = files.reduce((sum, { size }) => sum + size, 0)
    checkQuota(await usageOf(db, mailbox), { files: files.length, bytes }, given.limits)
    const rows = await writeFiles(inside, db, given)
    await db
      .insertInto('uploads_notice')
      .values(
        rows.map(({ id, created_at }, at) => ({
          mailbox,
          seq: lastSeq - rows.length + at + 1,
          file: id,
          at: created_at,
        })),
      )
      .execute()
    const answer: Answer = { upload, files: rows.map(answered) }
    await db
      .insertInto('uploads_upload')
      .values({
        id: upload,
        mailbox,
        idempotency_key: key,
        fingerprint,
        answer: JSON.stringify(answer),
        created_at: tables.now,
      })
      .execute()
    await inside.bridge()?.enqueue(rows, tx)
    await fault('receive:rows')
    return answer
  }
}

/** Runs in a savepoint, so that a failure leaves the caller's transaction usable. */
async function inSavepoint<R>(db: Kysely<Schema>, work: () => Promise<R>): Promise<R> {
  await sql`SAVEPOINT jobmill_uploads`.execute(db)
  try {
    const result = await work()
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
    .where((where) => where.and({ id: mailbox, deleted_at: null }))
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
    .where((where) => where.and({ id: token, revoked_at: null }))
    .executeTakeFirst()
  return row !== undefined
}

async function unstage(db: Kysely<Schema>, { upload }: NewUpload): Promise<void> {
  const row = await db
    .deleteFrom('uploads_staging')
    .where((where) => where.and({ upload, swept_at: null }))
    .returning('upload')
    .executeTakeFirst()
  // The sweep considered this upload abandoned, and may have deleted its blobs.
  if (row === undefined) throw new Refusal('TOO_SLOW')
}

async function writeFiles(
  { tables, limits, platform }: Inside,
  db: Kysely<Schema>,
  { mailbox, upload, files, limits: own }: NewUpload,
): Promise<FileRow[]> {
  const rows = await db
    .insertInto('uploads_file')
    .values(
      files.map((file, n) => ({
        ...file,
        mailbox,
        id: platform.id(),
        upload,
        n,
        max_size: own.maxFileBytes,
        created_at: tables.now,
        expires_at: sql<number>`${tables.now} + ${sql.lit(limits.expireAfterMs)}`,
        fetches: 0,
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
