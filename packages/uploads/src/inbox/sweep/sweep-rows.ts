/** Deletes the rows of swept files, and records unfetched files in the same transaction. */
import { sql, type Transaction } from 'jobmill-tables'
import type { Schema } from '../../tables/schema.ts'
import type { Inside } from '../inside.ts'
import type { SweptOutcome } from './sweep-counter.ts'

/** A marked file. */
interface Marked {
  readonly mailbox: string
  readonly id: string
  readonly acked_at: number | null
  readonly first_fetched_at: number | null
  readonly expires_at: number
  readonly swept_at: number | null
}

/**
 * Returns the files that existed, so that concurrent passes count each file once. Mailboxes are processed in
 * a fixed order to avoid deadlocks.
 */
export async function deleteRows({ tables }: Inside, rows: readonly Marked[]): Promise<Set<string>> {
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

export function outcomeOf(row: Marked): SweptOutcome {
  if (row.acked_at !== null) return 'acked'
  // An unexpired file is swept only if its mailbox was removed.
  if (row.expires_at > (row.swept_at ?? 0)) return 'mailbox_removed'
  return row.first_fetched_at === null ? 'expired_unfetched' : 'expired_fetched'
}
