/**
 * Receives an upload: streams every file to a blob, checks it, and makes all files visible in one
 * transaction. A failure before that leaves nothing behind; the leftovers of a crashed process are found
 * through its staging row.
 */
import { createHash } from 'node:crypto'
import { isFullDatabase } from '../../fault-codes.ts'
import { Refusal } from '../../refusal.ts'
import { type Answer, type Earlier, earlierOf, isRepeated, sameOrRefused } from './idempotency.ts'
import type { Inside } from '../inside.ts'
import { checkQuota, usageOf } from './quota.ts'
import { type UploadRequest, writeRows } from './rows.ts'
import { type Bounds, type Incoming, takeIn, type TakenIn } from './take-in.ts'

export interface Received {
  readonly answer: Answer
  /** Whether an earlier request with the same key was the upload. */
  readonly isRepeat: boolean
}

/** The progress of an upload. */
interface Begun {
  /** The number of blobs that may exist. */
  files: number
  commit: 'not asked for' | 'asked for' | 'done'
}

export async function receive(inside: Inside, request: UploadRequest): Promise<Received> {
  const { tables } = inside
  const { mailbox, key } = request
  const db = request.within?.db ?? tables.db
  const withKey = async (): Promise<Earlier | null> =>
    key === null ? null : earlierOf(db, { mailbox, idempotency_key: key })
  const earlier = await withKey()
  if (earlier !== null) return compare(request, earlier)
  const upload = inside.platform.id()
  // A staging row is committed before the first byte, on our own connection. On SQLite the caller is the only
  // writer, so this is impossible: blobs of a rolled-back transaction are found by the orphan scan.
  const isStaged = request.within === undefined || tables.type === 'postgres'
  if (isStaged)
    await tables.db.insertInto('uploads_staging').values({ upload, mailbox, begun_at: tables.now }).execute()
  // From here on, blobs may exist.
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
    // Of two concurrent requests with one key, the other one was first.
    const first = isRepeated(error) ? await withKey() : null
    if (first !== null) return { answer: sameOrRefused(first, printOf(taken)), isRepeat: true }
    // The first of two requests with one key used up the quota while this one arrived. A retry gets the first
    // response.
    if (isQuota(error) && (await withKey()) !== null)
      throw new Refusal('UNAVAILABLE', {
        detail: 'another upload with this key has just arrived',
        fix: 'Retry with the same key to get the response of that upload',
        retryAfter: 1,
      })
    throw error
  }
}

/** A full database has rolled back. */
function isNeverThere({ commit }: Begun, error: unknown): boolean {
  return commit === 'not asked for' || (commit === 'asked for' && isFullDatabase(error))
}

function isQuota(error: unknown): boolean {
  return error instanceof Refusal && error.code.startsWith('QUOTA_')
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

/** A retry is read and compared, but not stored. */
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
  throw new Refusal('FILES_MISSING', { detail: 'no part is named files', field: 'files' })
}

/** The fingerprint that identifies a retry of the same files. */
function printOf(files: readonly TakenIn[]): string {
  const hash = createHash('sha256')
  for (const { name, type, size, sha256 } of files) hash.update(JSON.stringify([name, type, size, sha256]))
  return hash.digest('hex')
}

/**
 * A commit with a lost response may have happened, or may still happen. The commit deletes the staging row,
 * and marking that row waits for the commit. Returns the response of a committed upload, or null if it can
 * never commit.
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
    // The row is gone: committed, or swept as stale, in which case it can no longer commit.
    const committed = marked === undefined ? await earlierOf(tables.db, { id: upload }) : null
    return committed?.answer ?? null
  } catch (error) {
    onError(error, cleaning(upload))
    return 'unknown'
  }
}

/**
 * Deletes the blobs, then the staging row: while the row exists, the sweep finds the blobs, and on a full
 * disk, deleting them frees the space for this write.
 */
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
    onError(error, cleaning(upload))
  }
}

/** For an error after which the sweep cleans up. */
const cleaning = (upload: string): string => `cleaning up upload ${upload}`
