/** The transaction that makes an upload visible: quota, files, notices, answer and jobs, or nothing of it. */
import { type Kysely, sql } from 'jobmill-tables'
import { Refusal } from '../refusal.ts'
import type { Schema } from '../tables/schema.ts'
import { type FileRow, fileView, uriOf } from './file-view.ts'
import { type Answer, earlierOf, Repeated } from './idempotency.ts'
import type { Inside } from './inside.ts'
import type { MailboxLimits } from './limits.ts'
import { checkQuota, usageOf } from './quota.ts'
import type { TakenIn } from './take-in.ts'

/** The tables inside a transaction of the caller's, and that transaction as the mill takes it. */
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

/** `onCommit` hears right before it: whatever fails earlier has left nothing. */
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
    // Before the quota, which the first of two with one key may have used up.
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

/** What fails leaves the caller's transaction as it was, and usable. */
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

/** Takes the numbers for the notices, and with them the mailbox: until the commit nobody else writes to it. */
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
  // Removed while the files came, or the token revoked.
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
  // The sweep took this process for dead, and its blobs are gone.
  if (row === undefined)
    throw new Refusal('TOO_SLOW', { fix: 'Send it again, in smaller parts if the line is slow' })
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
  // No database promises the order of what it returns.
  return rows.toSorted((a, b) => a.n - b.n)
}

function answered(row: FileRow): Answer['files'][number] {
  const { id, uri, name, mimeType, size, sha256, expiresAt } = fileView(row)
  return { id, uri, name, mimeType, size, sha256, expiresAt }
}

function payloadOf({ mailbox, id, name, type, size, sha256 }: FileRow) {
  return { uri: uriOf(mailbox, id), mailbox, fileId: id, name, type, size, sha256 }
}
