/** Mailboxes for operators: pending files, usage, and files that expired without being fetched. */
import { sql } from 'jobmill-tables'
import type { Inside } from './inside.ts'
import { instant } from './deliver/file-view.ts'
import { limitsOf, OWN_LIMITS } from './limits.ts'

export type SeenMailbox = ReturnType<typeof seen>

/** Ordered by id, which is by age. `find`: a part of the name, or the whole id. */
export async function lookAtMailboxes(
  inside: Inside,
  { find, after, limit }: Readonly<{ find: string; after: string; limit: number }>,
): Promise<{ mailboxes: SeenMailbox[]; next: string | null }> {
  const rows = await sums(inside)
    .where('uploads_mailbox.id', '>', after)
    .$if(find !== '', (query) => query.where(matching(find)))
    .orderBy('uploads_mailbox.id')
    .limit(limit + 1)
    .execute()
  const shown = rows.slice(0, limit)
  return {
    mailboxes: shown.map((row) => seen(row, inside)),
    next: rows.length > limit ? (shown.at(-1)?.id ?? null) : null,
  }
}

/** Null if it does not exist. */
export async function lookAtMailbox(inside: Inside, id: string): Promise<SeenMailbox | null> {
  const row = await sums(inside).where('uploads_mailbox.id', '=', id).executeTakeFirst()
  return row === undefined ? null : seen(row, inside)
}

const RECENT_MS = 7 * 24 * 3_600_000
const MOST_WARNINGS = 20

/** Mailboxes whose files recently expired without being fetched, latest first; all, or one. */
export async function lookForUnfetched({ tables }: Pick<Inside, 'tables'>, mailbox?: string) {
  const rows = await tables.db
    .selectFrom('uploads_mailbox')
    .select(['id', 'name', 'unfetched_files as files', 'unfetched_at as lastAt'])
    .where('unfetched_at', '>', sql<number>`${tables.now} - ${sql.lit(RECENT_MS)}`)
    .where('deleted_at', 'is', null)
    .$if(mailbox !== undefined, (query) => query.where('id', '=', mailbox ?? ''))
    .orderBy('unfetched_at', 'desc')
    .limit(MOST_WARNINGS)
    .execute()
  return rows.map((row) => ({ ...row, lastAt: instant(row.lastAt) }))
}

/** One statement per page. The file index starts with the mailbox. */
function sums({ tables }: Pick<Inside, 'tables'>) {
  const isPending = sql`acked_at IS NULL AND expires_at > ${tables.now}`
  const isExpired = sql`acked_at IS NULL AND expires_at <= ${tables.now}`
  return tables.db
    .selectFrom('uploads_mailbox')
    .leftJoin('uploads_file', (join) =>
      join.onRef('uploads_file.mailbox', '=', 'uploads_mailbox.id').on('uploads_file.swept_at', 'is', null),
    )
    .selectAll('uploads_mailbox')
    .select(OWN_LIMITS)
    .select([
      sql<number>`count(CASE WHEN ${isPending} THEN 1 END)`.as('pending'),
      sql<number>`CAST(coalesce(sum(CASE WHEN ${isPending} THEN size END), 0) AS bigint)`.as('pendingBytes'),
      sql<number | null>`min(CASE WHEN ${isPending} THEN uploads_file.created_at END)`.as('oldest'),
      sql<number>`count(acked_at)`.as('acked'),
      sql<number>`count(CASE WHEN ${isExpired} THEN 1 END)`.as('expired'),
      sql<number>`count(uploads_file.id)`.as('stored'),
      sql<number>`CAST(coalesce(sum(size), 0) AS bigint)`.as('storedBytes'),
    ])
    .where('uploads_mailbox.deleted_at', 'is', null)
    .groupBy('uploads_mailbox.id')
}

function matching(find: string) {
  const pattern = `%${find.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
  // The database lower-cases both sides, so that non-ASCII letters are treated alike.
  return sql<boolean>`(lower(uploads_mailbox.name) LIKE lower(${pattern}) ESCAPE '\\' OR uploads_mailbox.id = ${find.toLowerCase()})`
}

type Row = Awaited<ReturnType<ReturnType<typeof sums>['executeTakeFirstOrThrow']>>

function seen(row: Row, { limits }: Pick<Inside, 'limits'>) {
  return {
    id: row.id,
    name: row.name,
    createdAt: new Date(row.created_at).toISOString(),
    lastUploadAt: instant(row.last_upload_at),
    pending: { files: row.pending, bytes: row.pendingBytes, oldestAt: instant(row.oldest) },
    /** Acknowledged files that are not yet swept. */
    acked: row.acked,
    expired: row.expired,
    /** Counts against the quota. */
    stored: { files: row.stored, bytes: row.storedBytes },
    /** Since the mailbox was created; counts swept files only. */
    expiredUnfetched: { files: row.unfetched_files, lastAt: instant(row.unfetched_at) },
    limits: limitsOf(row, limits),
  }
}
