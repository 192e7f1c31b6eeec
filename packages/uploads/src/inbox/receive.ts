/**
 * An upload: every file goes to a blob while it arrives, everything is checked, and then one transaction makes all of it visible. Whatever goes wrong before leaves
 * nothing; what a process leaves that dies in between is found by its staging row.
 */
import { createHash } from 'node:crypto'
import { isFullDatabase } from '../fault-codes.ts'
import { Refusal } from '../refusal.ts'
import { isRepeated, type Answer, type Earlier, earlierOf, sameOrRefused } from './idempotency.ts'
import type { Inside } from './inside.ts'
import type { MailboxLimits } from './limits.ts'
import { checkQuota, usageOf } from './quota.ts'
import { type CallersTransaction, writeRows } from './rows.ts'
import { type Bounds, type Incoming, takeIn, type TakenIn } from './take-in.ts'

export interface UploadRequest {
  readonly mailbox: string
  /** The id of the one that it came with; null when the program itself, or its `authenticate`, vouches for the sender. */
  readonly token: string | null
  readonly limits: MailboxLimits
  /** Null for none. */
  readonly key: string | null
  readonly files: AsyncIterable<Incoming>
  readonly signal: AbortSignal
  /** The caller's transaction, in which the rows are written; left out: one of our own. */
  readonly within?: CallersTransaction
}

export interface Received {
  readonly answer: Answer
  /** Whether an earlier request with the same key was the upload. */
  readonly isRepeat: boolean
}

/** How far an upload has come. */
interface Begun {
  /** Blobs that there may be. */
  files: number
  commit: 'not asked for' | 'asked for' | 'done'
}

export async function receive(inside: Inside, request: UploadRequest): Promise<Received> {
  const { mailbox, key } = request
  const db = request.within?.db ?? inside.tables.db
  const earlier = key === null ? null : await earlierOf(db, mailbox, key)
  if (earlier !== null) return compare(request, earlier)
  const upload = inside.newId()
  const isStaged = canStage(inside, request)
  if (isStaged) await stage(inside, upload, mailbox)
  // From here on there may be blobs.
  let taken: TakenIn[] = []
  const begun: Begun = { files: 0, commit: 'not asked for' }
  try {
    await inside.fault('receive:staged')
    await inside.room.mustBeKept()
    taken = await bring(inside, request, upload, begun)
    await inside.fault('receive:complete')
    const rows = { ...request, upload, isStaged, files: taken, fingerprint: printOf(taken) }
    const answer = await writeRows(inside, rows, () => (begun.commit = 'asked for'))
    begun.commit = 'done'
    await inside.fault('receive:committed')
    if (request.within === undefined) {
      inside.live.wake(mailbox)
      inside.bridge()?.wake()
    }
    return { answer, isRepeat: false }
  } catch (error) {
    const committed = isNeverThere(begun, error) ? null : await markOrAnswer(inside, upload)
    if (committed === 'unknown') throw error
    if (committed !== null) return { answer: committed, isRepeat: false }
    await discard(inside, upload, begun.files, isStaged)
    // Two with one key at the same time: the other one was first.
    const first = key !== null && isRepeated(error) ? await earlierOf(db, mailbox, key) : null
    if (first !== null) return { answer: sameOrRefused(first, printOf(taken)), isRepeat: true }
    // The first of two with one key used the quota up while this one came: asked again, it gets that answer.
    if (key !== null && isQuota(error) && (await earlierOf(db, mailbox, key)) !== null)
      throw new Refusal('UNAVAILABLE', {
        detail: 'another upload with this key has just come in',
        fix: 'Send it again with the same key: it gets the answer of that one',
        retryAfter: 1,
      })
    throw error
  }
}

/** What the database had no room for, it has rolled back. */
function isNeverThere({ commit }: Begun, error: unknown): boolean {
  return commit === 'not asked for' || (commit === 'asked for' && isFullDatabase(error))
}

function isQuota(error: unknown): boolean {
  return error instanceof Refusal && error.code.startsWith('QUOTA_')
}

/**
 * A staging row is committed before the first byte, on a connection of our own. SQLite has one writer, and that is the caller: blobs of a transaction that was rolled
 * back there have no row, and the look at every blob finds them.
 */
function canStage({ tables }: Inside, { within }: UploadRequest): boolean {
  return within === undefined || tables.type === 'postgres'
}

async function stage({ tables }: Inside, upload: string, mailbox: string): Promise<void> {
  await tables.db
    .insertInto('uploads_staging')
    .values({ upload, mailbox, begun_at: tables.now, swept_at: null })
    .execute()
}

async function bring(
  inside: Inside,
  { mailbox, limits, files, signal, within }: UploadRequest,
  upload: string,
  begun: Begun,
): Promise<TakenIn[]> {
  const used = await usageOf(within?.db ?? inside.tables.db, mailbox)
  checkQuota(used, { files: 1, bytes: 1 }, limits)
  return takeAll(files, { limits, used }, async (bytes) => {
    const n = begun.files
    begun.files += 1
    await inside.blobs.write(`${upload}/${n}`, bytes, signal)
    await inside.fault('receive:written')
  })
}

/** A repeat is read and compared, and written nowhere. */
async function compare({ limits, files }: UploadRequest, earlier: Earlier): Promise<Received> {
  const taken = await takeAll(files, { limits, used: null }, async (bytes) => {
    for await (const chunk of bytes) void chunk
  })
  return { answer: sameOrRefused(earlier, printOf(taken)), isRepeat: true }
}

async function takeAll(
  files: AsyncIterable<Incoming>,
  bounds: Bounds,
  write: (bytes: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<TakenIn[]> {
  const taken: TakenIn[] = []
  let bytes = 0
  for await (const file of files) {
    const one = await takeIn(file, { files: taken.length, bytes }, bounds, write)
    taken.push(one)
    bytes += one.size
  }
  if (taken.length > 0) return taken
  throw new Refusal('FILES_MISSING', {
    detail: 'there is no part called files',
    field: 'files',
    fix: 'Send each file as a part called files, with a filename',
  })
}

/** What makes two requests the same. */
function printOf(files: readonly TakenIn[]): string {
  const hash = createHash('sha256')
  for (const { name, type, size, sha256 } of files) hash.update(JSON.stringify([name, type, size, sha256]))
  return hash.digest('hex')
}

/**
 * A commit whose reply was lost may have happened all the same, or be about to: the staging row tells, which the commit takes away, and which whoever marks it waits
 * for. Returns the answer of an upload that turns out to be there, null when it never will be.
 */
async function markOrAnswer(inside: Inside, upload: string): Promise<Answer | 'unknown' | null> {
  const { tables, onError } = inside
  try {
    const marked = await tables.db
      .updateTable('uploads_staging')
      .set({ swept_at: tables.now })
      .where('upload', '=', upload)
      .returning('upload')
      .executeTakeFirst()
    // Gone: by the commit, or by a sweep that took this process for dead; then nothing can commit it any more.
    return marked === undefined ? await committedAs(inside, upload) : null
  } catch (error) {
    leftBehind(onError, error, upload)
    return 'unknown'
  }
}

/** Takes back what came. Blobs first: while the row is there, the sweep finds them; and where the disk is full, they are what gives the row its room. */
async function discard(
  { tables, blobs, fault, onError }: Inside,
  upload: string,
  files: number,
  isStaged: boolean,
): Promise<void> {
  try {
    for (let n = 0; n < files; n += 1) {
      await blobs.delete(`${upload}/${n}`)
      await fault('discard:blob')
    }
    await fault('discard:blobs')
    if (isStaged) await tables.db.deleteFrom('uploads_staging').where('upload', '=', upload).execute()
  } catch (error) {
    leftBehind(onError, error, upload)
  }
}

/** The sweep does it then. */
function leftBehind(onError: Inside['onError'], error: unknown, upload: string): void {
  onError(error, `what is left of upload ${upload}`)
}

async function committedAs({ tables }: Inside, upload: string): Promise<Answer | null> {
  const row = await tables.db
    .selectFrom('uploads_upload')
    .select('answer')
    .where('id', '=', upload)
    .executeTakeFirst()
  return row === undefined ? null : (JSON.parse(row.answer) as Answer)
}
