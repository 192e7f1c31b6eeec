/** What a mailbox has, against what it may have. What is acknowledged counts until the sweep has taken it away: it takes up room until then. */
import { sql, type Kysely } from 'jobmill-tables'
import { Refusal } from '../refusal.ts'
import type { Schema } from '../tables/schema.ts'
import type { MailboxLimits } from './limits.ts'

export interface Usage {
  readonly files: number
  readonly bytes: number
}

export async function usageOf(db: Kysely<Schema>, mailbox: string): Promise<Usage> {
  return db
    .selectFrom('uploads_file')
    .select([
      sql<number>`count(*)`.as('files'),
      sql<number>`CAST(coalesce(sum(size), 0) AS bigint)`.as('bytes'),
    ])
    .where('mailbox', '=', mailbox)
    .where('swept_at', 'is', null)
    .executeTakeFirstOrThrow()
}

/** Of all mailboxes that have any, by an index that has the sizes in it. */
export async function usages(db: Kysely<Schema>): Promise<ReadonlyMap<string, Usage>> {
  const rows = await db
    .selectFrom('uploads_file')
    .select([
      'mailbox',
      sql<number>`count(*)`.as('files'),
      sql<number>`CAST(coalesce(sum(size), 0) AS bigint)`.as('bytes'),
    ])
    .where('swept_at', 'is', null)
    .groupBy('mailbox')
    .execute()
  return new Map(rows.map(({ mailbox, files, bytes }) => [mailbox, { files, bytes }]))
}

const ROOM = 'Wait until its consumer has acknowledged some and they were swept, or raise its quota'

/** `more` is what comes on top. */
export function checkQuota(
  used: Usage,
  more: Usage,
  { quotaBytes, quotaFiles }: Pick<MailboxLimits, 'quotaBytes' | 'quotaFiles'>,
): void {
  if (quotaFiles !== null && used.files + more.files > quotaFiles)
    throw new Refusal('QUOTA_FILES', {
      detail: `the mailbox has ${used.files} files of ${quotaFiles}, and this would be ${more.files} more`,
      fix: more.files > quotaFiles ? 'Send fewer at once, or raise its quota' : ROOM,
      max: quotaFiles,
      ...(more.files <= quotaFiles && { retryAfter: 60 }),
    })
  if (quotaBytes !== null && used.bytes + more.bytes > quotaBytes)
    throw new Refusal('QUOTA_BYTES', {
      detail: `the mailbox has ${used.bytes} bytes of ${quotaBytes}, and this would be ${more.bytes} more`,
      fix: more.bytes > quotaBytes ? 'Send less at once, or raise its quota' : ROOM,
      max: quotaBytes,
    })
}
