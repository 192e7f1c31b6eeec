/**
 * The usage of a mailbox against its quota. Acknowledged files count until the sweep deletes them, because
 * they use space until then.
 */
import { sql, type Kysely } from 'jobmill-tables'
import { Refusal } from '../../refusal.ts'
import type { Schema } from '../../tables/schema.ts'
import type { MailboxLimits } from '../limits.ts'

export interface Usage {
  readonly files: number
  readonly bytes: number
}

/** Uses an index that includes the sizes. */
function sums(db: Kysely<Schema>) {
  return db
    .selectFrom('uploads_file')
    .select([
      sql<number>`count(*)`.as('files'),
      sql<number>`CAST(coalesce(sum(size), 0) AS bigint)`.as('bytes'),
    ])
    .where('swept_at', 'is', null)
}

export function usageOf(db: Kysely<Schema>, mailbox: string): Promise<Usage> {
  return sums(db).where('mailbox', '=', mailbox).executeTakeFirstOrThrow()
}

/** The usage of all mailboxes. */
export async function usages(db: Kysely<Schema>): Promise<ReadonlyMap<string, Usage>> {
  const rows = await sums(db).select('mailbox').groupBy('mailbox').execute()
  return new Map(rows.map(({ mailbox, files, bytes }) => [mailbox, { files, bytes }]))
}

const ROOM = 'Wait until acknowledged files have been deleted, or raise the quota'

/** `more` is the additional usage. */
export function checkQuota(
  used: Usage,
  more: Usage,
  { quotaBytes, quotaFiles }: Pick<MailboxLimits, 'quotaBytes' | 'quotaFiles'>,
): void {
  if (quotaFiles !== null && used.files + more.files > quotaFiles)
    throw new Refusal('QUOTA_FILES', {
      detail: `the mailbox has ${used.files} of ${quotaFiles} files, and this upload adds ${more.files}`,
      fix: more.files > quotaFiles ? 'Send fewer files at once, or raise the quota' : ROOM,
      max: quotaFiles,
      ...(more.files <= quotaFiles && { retryAfter: 60 }),
    })
  if (quotaBytes !== null && used.bytes + more.bytes > quotaBytes)
    throw new Refusal('QUOTA_BYTES', {
      detail: `the mailbox has ${used.bytes} of ${quotaBytes} bytes, and this upload adds ${more.bytes}`,
      fix: more.bytes > quotaBytes ? 'Send less at once, or raise the quota' : ROOM,
      max: quotaBytes,
    })
}
