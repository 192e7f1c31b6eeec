/**
 * Marks the files to sweep. Each reason has its own index. The update checks the condition again, because on
 * PostgreSQL a file may be acknowledged in between, which starts its retention.
 */
import { type ExpressionBuilder, type Expression, sql, type SqlBool } from 'jobmill-tables'
import type { Schema } from '../../tables/schema.ts'
import type { Inside } from '../inside.ts'

/** Acknowledged long enough ago; expired; in a removed mailbox. */
export const MARKS = ['acked', 'expired', 'removed'] as const

type Where = ExpressionBuilder<Schema, 'uploads_file'>

/** Returns the number of candidates; fewer than a batch means that none are left. */
export async function markFiles(
  { tables, limits }: Inside,
  mark: (typeof MARKS)[number],
  batch: number,
): Promise<number> {
  const { db, now } = tables
  const isDue = (where: Where): Expression<SqlBool> => {
    const isUnmarked = where('swept_at', 'is', null)
    if (mark === 'acked')
      return where.and([
        isUnmarked,
        where('acked_at', 'is not', null),
        where('acked_at', '<=', sql<number>`${now} - ${sql.lit(limits.ackRetentionMs)}`),
      ])
    if (mark === 'expired')
      return where.and([isUnmarked, where('acked_at', 'is', null), where('expires_at', '<=', now)])
    return where.and([
      isUnmarked,
      where('uploads_file.mailbox', 'in', (from) =>
        from.selectFrom('uploads_mailbox').select('uploads_mailbox.id').where('deleted_at', 'is not', null),
      ),
    ])
  }
  const found = await db
    .selectFrom('uploads_file')
    .select(['mailbox', 'id'])
    .where(isDue)
    .limit(batch)
    .execute()
  if (found.length === 0) return 0
  const keys = sql.join(found.map(({ mailbox, id }) => sql`(${mailbox}, ${id})`))
  await db
    .updateTable('uploads_file')
    .set({ swept_at: now })
    .where(sql<SqlBool>`(mailbox, id) IN (VALUES ${keys})`)
    .where(isDue)
    .execute()
  return found.length
}
