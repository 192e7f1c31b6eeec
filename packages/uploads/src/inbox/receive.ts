/**
 * An upload: every file goes to a blob while it arrives, everything is checked, and then one transaction makes all of it visible. Whatever goes wrong before leaves
 * nothing; what a process leaves that dies in between is found by its staging row.
 */
import { createHash } from 'node:crypto'
import { Refusal } from '../refusal.ts'
import { isRepeated, type Answer, type Earlier, earlierOf, sameOrRefused } from './idempotency.ts'
import type { Inside } from './inside.ts'
import type { MailboxLimits } from './limits.ts'
import { checkQuota, usageOf } from './quota.ts'
import { writeRows } from './rows.ts'
import { type Bounds, type Incoming, takeIn, type TakenIn } from './take-in.ts'

export interface UploadRequest {
  readonly mailbox: string
  readonly limits: MailboxLimits
  /** Null for none. */
  readonly key: string | null
  readonly files: AsyncIterable<Incoming>
  readonly signal: AbortSignal
}

export interface Received {
  readonly answer: Answer
  /** Whether an earlier request with the same key was the upload. */
  readonly isRepeat: boolean
}

export async function receive(inside: Inside, request: UploadRequest): Promise<Received> {
  const { mailbox, key } = request
  const earlier = key === null ? null : await earlierOf(inside.tables.db, mailbox, key)
  if (earlier !== null) return compare(request, earlier)
  const upload = inside.newId()
  await stage(inside, upload, mailbox)
  // From here on there may be blobs.
  let taken: TakenIn[] = []
  const begun = { files: 0 }
  try {
    await inside.fault('receive:staged')
    taken = await bring(inside, request, upload, begun)
    await inside.fault('receive:complete')
    const answer = await writeRows(inside, { ...request, upload, files: taken, fingerprint: printOf(taken) })
    await inside.fault('receive:committed')
    inside.live.wake(mailbox)
    inside.bridge()?.wake()
    return { answer, isRepeat: false }
  } catch (error) {
    const committed = await discard(inside, upload, begun.files)
    if (committed !== null) return { answer: committed, isRepeat: false }
    // Two with one key at the same time: the other one was first.
    const first = key !== null && isRepeated(error) ? await earlierOf(inside.tables.db, mailbox, key) : null
    if (first !== null) return { answer: sameOrRefused(first, printOf(taken)), isRepeat: true }
    // The first of two with one key used the quota up while this one came: asked again, it gets that answer.
    if (key !== null && isQuota(error) && (await earlierOf(inside.tables.db, mailbox, key)) !== null)
      throw new Refusal('UNAVAILABLE', {
        detail: 'another upload with this key has just come in',
        fix: 'Send it again with the same key: it gets the answer of that one',
        retryAfter: 1,
      })
    throw error
  }
}

function isQuota(error: unknown): boolean {
  return error instanceof Refusal && error.code.startsWith('QUOTA_')
}

async function stage({ tables }: Inside, upload: string, mailbox: string): Promise<void> {
  await tables.db
    .insertInto('uploads_staging')
    .values({ upload, mailbox, begun_at: tables.now, swept_at: null })
    .execute()
}

async function bring(
  inside: Inside,
  { mailbox, limits, files, signal }: UploadRequest,
  upload: string,
  begun: { files: number },
): Promise<TakenIn[]> {
  const used = await usageOf(inside.tables.db, mailbox)
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
 * Takes back what came. A commit whose reply was lost may have happened all the same, or be about to: the staging row tells, which the commit takes away, and which
 * whoever marks it waits for. Returns the answer of an upload that turns out to be there. Blobs first: while the row is there, the sweep finds them.
 */
async function discard(inside: Inside, upload: string, files: number): Promise<Answer | null> {
  const { tables, blobs, fault, onError } = inside
  try {
    const marked = await tables.db
      .updateTable('uploads_staging')
      .set({ swept_at: tables.now })
      .where('upload', '=', upload)
      .returning('upload')
      .executeTakeFirst()
    // Gone: by the commit, or by a sweep that took this process for dead; then nothing can commit it any more.
    const committed = marked === undefined ? await committedAs(inside, upload) : null
    if (committed !== null) return committed
    for (let n = 0; n < files; n += 1) {
      await blobs.delete(`${upload}/${n}`)
      await fault('discard:blob')
    }
    await fault('discard:blobs')
    await tables.db.deleteFrom('uploads_staging').where('upload', '=', upload).execute()
  } catch (error) {
    // The sweep does it then.
    onError(error, `what is left of upload ${upload}`)
  }
  return null
}

async function committedAs({ tables }: Inside, upload: string): Promise<Answer | null> {
  const row = await tables.db
    .selectFrom('uploads_upload')
    .select('answer')
    .where('id', '=', upload)
    .executeTakeFirst()
  return row === undefined ? null : (JSON.parse(row.answer) as Answer)
}
