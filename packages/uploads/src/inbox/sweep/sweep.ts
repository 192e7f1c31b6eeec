/** One pass of the sweep, in batches until nothing is left or the signal fires. */
import type { OwnDuty } from 'jobmill'
import { sql } from 'jobmill-tables'
import { isFullDatabase } from '../../fault-codes.ts'
import type { Inside } from '../inside.ts'
import type { Pass } from './pass.ts'
import { zeroCounts, type SweptCounts, type SweptOutcome } from './sweep-counter.ts'
import { sweepFiles } from './sweep-files.ts'
import { lookForOrphans, type OrphanLook } from './sweep-orphans.ts'
import { sweepStaging } from './sweep-staging.ts'

const BATCH = 500

/** A pass of a duty may take 30 s, and it finishes a batch that it has started. */
const PASS_MS = 15_000
const THOROUGH_MS = 3_600_000

/**
 * The sweep as a duty: passes end well before the deadline of a duty, and the next one follows immediately if
 * work is left. The first pass, and then one per hour, starts a scan of all blobs; a long scan continues in
 * later passes.
 */
export function sweepDuty(inside: Inside): OwnDuty['run'] {
  const { platform } = inside
  let thoroughAt = -Infinity
  let look: OrphanLook | null = null
  return async ({ signal, again }) => {
    const over = new AbortController()
    const timer = platform.timer(PASS_MS, () => over.abort(), { unref: true })
    if (look === null && platform.monotonic() - thoroughAt >= THOROUGH_MS) look = lookForOrphans(inside)
    try {
      const counts = await sweep(inside, AbortSignal.any([signal, over.signal]), look)
      if (look?.isDone() === true) thoroughAt = platform.monotonic()
      return counts
    } finally {
      timer.cancel()
      // This process is stopping, or another one takes over the duty.
      if (signal.aborted) await look?.end()
      if (signal.aborted || look?.isDone() === true) look = null
      if (over.signal.aborted && !signal.aborted) again()
    }
  }
}

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
  const pass = { inside, signal, count }
  try {
    await run(pass, look, false)
  } catch (error) {
    if (!isFullDatabase(error)) throw error
    await inside.room.giveUpFor(error)
    const orphans = look ?? lookForOrphans(inside)
    try {
      await run(pass, orphans, true)
    } finally {
      if (look === null) await orphans.end()
    }
  } finally {
    await inside.room.keep().catch((error: unknown) => inside.onError(error, 'restoring the disk reserve'))
  }
  return counts
}

async function run(given: Omit<Pass, 'attempt'>, look: OrphanLook | null, isFull: boolean): Promise<void> {
  const failures: unknown[] = []
  const attempt: Pass['attempt'] = async (act) => {
    try {
      await act()
      return true
    } catch (error) {
      failures.push(error)
      return false
    }
  }
  const pass = { ...given, attempt }
  if (isFull) await look?.resume(pass)
  await sweepFiles(pass)
  await sweepStaging(pass)
  await look?.resume(pass)
  await sweepUploads(pass)
  await sweepMailboxes(pass)
  if (failures.length > 0)
    throw new AggregateError(
      failures,
      `${failures.length} ${failures.length === 1 ? 'blob' : 'blobs'} could not be deleted: ${String(failures[0])}`,
    )
}

/** Deletes old idempotency keys. */
async function sweepUploads({ inside: { tables, limits }, signal }: Pass): Promise<void> {
  while (!signal.aborted) {
    const found = await tables.db
      .selectFrom('uploads_upload')
      .select('id')
      .where('created_at', '<=', sql<number>`${tables.now} - ${sql.lit(limits.keysForMs)}`)
      .limit(BATCH)
      .execute()
    const ids = found.map(({ id }) => id)
    if (ids.length > 0) await tables.db.deleteFrom('uploads_upload').where('id', 'in', ids).execute()
    if (ids.length < BATCH) return
  }
}

/** Deletes removed mailboxes whose files are all deleted. */
async function sweepMailboxes({ inside: { tables }, signal }: Pass): Promise<void> {
  if (signal.aborted) return
  const rows = await tables.db
    .selectFrom('uploads_mailbox')
    .select('id')
    .where('deleted_at', 'is not', null)
    .where((where) =>
      where.not(
        where.exists(
          where.selectFrom('uploads_file').select('n').whereRef('mailbox', '=', 'uploads_mailbox.id'),
        ),
      ),
    )
    .limit(BATCH)
    .execute()
  for (const { id } of rows) {
    if (signal.aborted) return
    await tables.transaction(async (db) => {
      for (const table of ['uploads_token', 'uploads_notice', 'uploads_upload'] as const)
        await db.deleteFrom(table).where('mailbox', '=', id).execute()
      await db.deleteFrom('uploads_mailbox').where('id', '=', id).execute()
    })
  }
}
