/**
 * Deletes the files that are due. A file is marked, which hides it; then its blob is deleted, then its row.
 * If a pass crashes, the next one finishes the marked files.
 */
import { type Expression, type ExpressionBuilder, sql, type SqlBool, type Transaction } from 'jobmill-tables'
import type { Schema } from '../../tables/schema.ts'
import type { FileRow } from '../deliver/file-view.ts'
import type { Inside } from '../inside.ts'
import type { Pass } from './pass.ts'
import type { SweptOutcome } from './sweep-counter.ts'

const BATCH = 500
/** Parallel blob deletions. */
const AT_ONCE = 8

export async function sweepFiles(pass: Pass): Promise<void> {
  const { inside, signal } = pass
  await finishMarked(pass)
  for (const isDue of REASONS)
    for (let marked = BATCH; marked === BATCH && !signal.aborted;) {
      marked = await mark(inside, isDue)
      if (marked === 0) break
      await inside.fault('sweep:marked')
      await finishMarked(pass)
    }
}

type IsDue = (file: ExpressionBuilder<Schema, 'uploads_file'>, inside: Inside) => Expression<SqlBool>

const wasAcked: IsDue = (file, { tables, limits }) =>
  file.and([
    file('acked_at', 'is not', null),
    file('acked_at', '<=', sql<number>`${tables.now} - ${sql.lit(limits.ackRetentionMs)}`),
  ])

const hasExpired: IsDue = (file, { tables }) =>
  file.and([file('acked_at', 'is', null), file('expires_at', '<=', tables.now)])

const lostItsMailbox: IsDue = (file) =>
  file('uploads_file.mailbox', 'in', (from) =>
    from.selectFrom('uploads_mailbox').select('uploads_mailbox.id').where('deleted_at', 'is not', null),
  )

/** Each reason has its own index. */
const REASONS = [wasAcked, hasExpired, lostItsMailbox]

/**
 * Returns the number of candidates; fewer than a batch means that none are left. The update checks the
 * condition again, because on PostgreSQL a file may be acknowledged in between, which starts its retention.
 */
async function mark(inside: Inside, isDue: IsDue): Promise<number> {
  const { db, now } = inside.tables
  const found = await db
    .selectFrom('uploads_file')
    .select(['mailbox', 'id'])
    .where('swept_at', 'is', null)
    .where((file) => isDue(file, inside))
    .limit(BATCH)
    .execute()
  if (found.length === 0) return 0
  const keys = sql.join(found.map(({ mailbox, id }) => sql`(${mailbox}, ${id})`))
  await db
    .updateTable('uploads_file')
    .set({ swept_at: now })
    .where(sql<SqlBool>`(mailbox, id) IN (VALUES ${keys})`)
    .where('swept_at', 'is', null)
    .where((file) => isDue(file, inside))
    .execute()
  return found.length
}

/** Pages by key, so that files whose blobs cannot be deleted are not read repeatedly. */
async function finishMarked({ inside, signal, count, attempt }: Pass): Promise<void> {
  const { tables, blobs, fault } = inside
  let last = { mailbox: '', id: '' }
  while (!signal.aborted) {
    const { mailbox, id } = last
    const rows = await tables.db
      .selectFrom('uploads_file')
      .select(['mailbox', 'id', 'upload', 'n', 'acked_at', 'first_fetched_at', 'expires_at', 'swept_at'])
      .where('swept_at', 'is not', null)
      .where((file) =>
        file.or([
          file('mailbox', '>', mailbox),
          file.and([file('mailbox', '=', mailbox), file('id', '>', id)]),
        ]),
      )
      .orderBy('mailbox')
      .orderBy('id')
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
      if (await attempt(() => blobs.delete(`${row.upload}/${row.n}`))) gone.push(row)
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

type Marked = Pick<FileRow, 'mailbox' | 'id' | 'acked_at' | 'first_fetched_at' | 'expires_at' | 'swept_at'>

/**
 * Returns the files that existed, so that concurrent passes count each file once. Mailboxes are processed in
 * a fixed order to avoid deadlocks.
 */
async function deleteRows({ tables }: Inside, rows: readonly Marked[]): Promise<Set<string>> {
  const deleted = new Set<string>()
  if (rows.length === 0) return deleted
  const byMailbox = [...Map.groupBy(rows, (row) => row.mailbox)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  await tables.transaction(async (db) => {
    for (const [mailbox, files] of byMailbox) {
      const ids = files.map(({ id }) => id)
      await db.deleteFrom('uploads_notice').where('mailbox', '=', mailbox).where('file', 'in', ids).execute()
      const gone = await db
        .deleteFrom('uploads_file')
        .where('mailbox', '=', mailbox)
        .where('id', 'in', ids)
        .where('swept_at', 'is not', null)
        .returning('id')
        .execute()
      for (const { id } of gone) deleted.add(id)
      await rememberUnfetched(
        db,
        mailbox,
        files.filter((row) => deleted.has(row.id) && outcomeOf(row) === 'expired_unfetched'),
      )
    }
  })
  return deleted
}

/** Counts unfetched files in the transaction of the sweep, because their rows are gone afterwards. */
async function rememberUnfetched(
  db: Transaction<Schema>,
  mailbox: string,
  files: readonly Marked[],
): Promise<void> {
  if (files.length === 0) return
  const lastAt = Math.max(...files.map((row) => row.expires_at))
  await db
    .updateTable('uploads_mailbox')
    .set({
      unfetched_files: sql<number>`unfetched_files + ${sql.lit(files.length)}`,
      unfetched_at: sql<number>`CASE WHEN unfetched_at > ${sql.lit(lastAt)} THEN unfetched_at ELSE ${sql.lit(lastAt)} END`,
    })
    .where('id', '=', mailbox)
    .execute()
}

function outcomeOf(row: Marked): SweptOutcome {
  if (row.acked_at !== null) return 'acked'
  // An unexpired file is swept only if its mailbox was removed.
  if (row.expires_at > (row.swept_at ?? 0)) return 'mailbox_removed'
  return row.first_fetched_at === null ? 'expired_unfetched' : 'expired_fetched'
}
