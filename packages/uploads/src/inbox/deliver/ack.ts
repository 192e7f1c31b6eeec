/** Acknowledges a file with one statement. Only if it changed nothing, a second one finds out why. */
import type { Kysely } from 'jobmill-tables'
import { Refusal } from '../../refusal.ts'
import type { Schema } from '../../tables/schema.ts'
import type { FileRef } from './files.ts'
import type { Inside } from '../inside.ts'

export interface Acked {
  readonly acked: true
  readonly alreadyAcked?: true
  /** The sweep has already marked the file for deletion. */
  readonly raced?: true
}

/**
 * `sha256`: the hash that the consumer computed; null if it sent none. `db`: the tables inside the caller's
 * transaction, if there is one.
 */
export async function ack(
  { tables, fault }: Inside,
  { mailbox, file, sha256 }: FileRef & { readonly sha256: string | null },
  db: Kysely<Schema> = tables.db,
): Promise<Acked> {
  await fault('ack:before')
  const acked = await db
    .updateTable('uploads_file')
    .set({ acked_at: tables.now })
    .where((where) => where.and({ mailbox, id: file, acked_at: null, swept_at: null }))
    .where('expires_at', '>', tables.now)
    .$if(sha256 !== null, (query) => query.where('sha256', '=', sha256 ?? ''))
    .returning('id')
    .executeTakeFirst()
  await fault('ack:after')
  if (acked !== undefined) return { acked: true }
  const row = await db
    .selectFrom('uploads_file')
    .select(['sha256', 'acked_at', 'swept_at'])
    .where((where) => where.and({ mailbox, id: file }))
    // An expired file without an acknowledgement is gone, whatever its hash.
    .where((where) =>
      where.or([
        where('acked_at', 'is not', null),
        where('swept_at', 'is not', null),
        where('expires_at', '>', tables.now),
      ]),
    )
    .executeTakeFirst()
  if (row === undefined) throw new Refusal('FILE_UNKNOWN')
  const { acked_at, swept_at } = row
  if (sha256 !== null && row.sha256 !== sha256)
    throw new Refusal('HASH_DIFFERS', { field: 'sha256', detail: `the file has the SHA-256 ${row.sha256}` })
  if (acked_at === null && swept_at === null) throw new Refusal('FILE_UNKNOWN')
  return {
    acked: true,
    ...(acked_at !== null && { alreadyAcked: true }),
    ...(swept_at !== null && { raced: true }),
  }
}
