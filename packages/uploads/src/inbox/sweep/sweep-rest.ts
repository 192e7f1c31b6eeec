/** Deletes old idempotency keys and removed mailboxes. */
import { sql } from 'jobmill-tables'
import type { Inside } from '../inside.ts'

const BATCH = 500

export async function sweepUploads({ tables, limits }: Inside, signal: AbortSignal): Promise<void> {
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
export async function sweepMailboxes({ tables }: Inside, signal: AbortSignal): Promise<void> {
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
      await db.deleteFrom('uploads_token').where('mailbox', '=', id).execute()
      await db.deleteFrom('uploads_notice').where('mailbox', '=', id).execute()
      await db.deleteFrom('uploads_upload').where('mailbox', '=', id).execute()
      await db.deleteFrom('uploads_mailbox').where('id', '=', id).execute()
    })
  }
}
