/** Which files the sweep takes: each arm is one statement on an index of its own. */
import { sql } from 'jobmill-tables'
import type { Inside } from './inside.ts'

/** Acknowledged long enough ago; expired without; of a mailbox that was removed. */
export const MARKS = ['acked', 'expired', 'removed'] as const

export async function markFiles(
  { tables, limits }: Inside,
  mark: (typeof MARKS)[number],
  batch: number,
): Promise<number> {
  const { db, now } = tables
  const found = db
    .selectFrom('uploads_file')
    .select(['uploads_file.mailbox', 'uploads_file.id'])
    .where('swept_at', 'is', null)
    .$if(mark === 'acked', (query) =>
      query
        .where('acked_at', 'is not', null)
        .where('acked_at', '<=', sql<number>`${now} - ${sql.lit(limits.ackRetentionMs)}`),
    )
    .$if(mark === 'expired', (query) => query.where('acked_at', 'is', null).where('expires_at', '<=', now))
    .$if(mark === 'removed', (query) =>
      query.where('uploads_file.mailbox', 'in', (from) =>
        from.selectFrom('uploads_mailbox').select('uploads_mailbox.id').where('deleted_at', 'is not', null),
      ),
    )
    .limit(batch)
  const { numUpdatedRows } = await db
    .updateTable('uploads_file')
    .set({ swept_at: tables.now })
    .where((where) =>
      where(where.refTuple('uploads_file.mailbox', 'uploads_file.id'), 'in', found.$asTuple('mailbox', 'id')),
    )
    .where('swept_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}
