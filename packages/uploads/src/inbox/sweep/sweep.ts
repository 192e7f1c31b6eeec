/**
 * One pass of the sweep, in batches until nothing is left or the signal fires. A file is marked, which hides
 * it; then its blob is deleted, then its row. The next pass finishes what a crashed one left marked.
 */
import { isFullDatabase } from '../../fault-codes.ts'
import type { Inside } from '../inside.ts'
import { zeroCounts, type SweptCounts, type SweptOutcome } from './sweep-counter.ts'
import { markFiles, MARKS } from './sweep-marks.ts'
import { deleteRows, outcomeOf } from './sweep-rows.ts'
import { lookForOrphans, type OrphanLook } from './sweep-orphans.ts'
import { sweepMailboxes, sweepUploads } from './sweep-rest.ts'
import { sweepStaging } from './sweep-staging.ts'

const BATCH = 500
/** Parallel blob deletions. */
const AT_ONCE = 8

/**
 * Rejects at the end if anything could not be deleted. `look`: also scans for orphaned blobs. If the database
 * is full, the pass first scans for orphans, which writes nothing, and then retries with the reserve.
 */
export async function sweep(
  inside: Inside,
  signal: AbortSignal,
  look: OrphanLook | null,
): Promise<SweptCounts> {
  const counts = zeroCounts()
  const count = (outcome: SweptOutcome, n: number): void => {
    counts[outcome] += n
    inside.swept.add(outcome, n)
  }
  try {
    await pass(inside, signal, count, look, false)
  } catch (error) {
    if (!isFullDatabase(error)) throw error
    await inside.room.giveUpFor(error)
    const orphans = look ?? lookForOrphans(inside)
    try {
      await pass(inside, signal, count, orphans, true)
    } finally {
      if (look === null) await orphans.end()
    }
  } finally {
    await inside.room.keep().catch((error: unknown) => inside.onError(error, 'restoring the disk reserve'))
  }
  return counts
}

async function pass(
  inside: Inside,
  signal: AbortSignal,
  count: (outcome: SweptOutcome, n: number) => void,
  look: OrphanLook | null,
  isFull: boolean,
): Promise<void> {
  const failures: unknown[] = []
  const failed = (error: unknown): void => void failures.push(error)
  const lookOn = async (): Promise<void> => look?.resume(signal, (n) => count('orphan_blob', n), failed)
  if (isFull) await lookOn()
  await finishMarked(inside, signal, count, failed)
  for (const mark of MARKS)
    while (!signal.aborted) {
      const marked = await markFiles(inside, mark, BATCH)
      if (marked === 0) break
      await inside.fault('sweep:marked')
      await finishMarked(inside, signal, count, failed)
      if (marked < BATCH) break
    }
  await sweepStaging(inside, signal, (n) => count('orphan_blob', n), failed)
  await lookOn()
  await sweepUploads(inside, signal)
  await sweepMailboxes(inside, signal)
  if (failures.length > 0)
    throw new AggregateError(
      failures,
      `${failures.length} ${failures.length === 1 ? 'blob' : 'blobs'} could not be deleted: ${String(failures[0])}`,
    )
}

/** Pages by key, so that files whose blobs cannot be deleted are not read repeatedly. */
async function finishMarked(
  inside: Inside,
  signal: AbortSignal,
  count: (outcome: SweptOutcome, n: number) => void,
  failed: (error: unknown) => void,
): Promise<void> {
  const { tables, blobs, fault } = inside
  let last = { mailbox: '', id: '' }
  while (!signal.aborted) {
    const { mailbox, id } = last
    const rows = await tables.db
      .selectFrom('uploads_file')
      .leftJoin('uploads_mailbox', 'uploads_mailbox.id', 'uploads_file.mailbox')
      .select(['uploads_file.mailbox', 'uploads_file.id', 'upload', 'n', 'acked_at', 'first_fetched_at'])
      .select(['expires_at', 'swept_at', 'uploads_mailbox.deleted_at'])
      .where('swept_at', 'is not', null)
      .where((where) =>
        where.or([
          where('uploads_file.mailbox', '>', mailbox),
          where.and([where('uploads_file.mailbox', '=', mailbox), where('uploads_file.id', '>', id)]),
        ]),
      )
      .orderBy('uploads_file.mailbox')
      .orderBy('uploads_file.id')
      .limit(BATCH)
      .execute()
    const end = rows.at(-1)
    if (end === undefined) return
    last = end
    const gone: typeof rows = []
    await eachOf(rows, async (row) => {
      // The remaining files are marked, so the next pass deletes them.
      if (signal.aborted) return
      await fault('sweep:blob')
      try {
        await blobs.delete(`${row.upload}/${row.n}`)
        gone.push(row)
      } catch (error) {
        failed(error)
      }
    })
    await fault('sweep:blobs')
    const deleted = await deleteRows(inside, gone)
    for (const row of gone) if (deleted.has(row.id)) count(outcomeOf(row), 1)
    await fault('sweep:rows')
    if (rows.length < BATCH) return
  }
}

/** Runs `act` on a few items at a time. */
async function eachOf<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  await Promise.all(
    Array.from({ length: Math.min(AT_ONCE, items.length) }, async () => {
      for (const item of left) await act(item)
    }),
  )
}
