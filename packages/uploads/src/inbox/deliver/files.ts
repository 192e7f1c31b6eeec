/**
 * Finds, reads and stamps one file. Every statement names mailbox and file together, so that files of other
 * mailboxes are never found.
 */
import { sql } from 'jobmill-tables'
import { BlobMissing } from '../../blobs/blob-store.ts'
import type { ByteRange } from '../../clean/byte-range.ts'
import { Refusal } from '../../refusal.ts'
import type { FileRow } from './file-view.ts'
import type { Inside } from '../inside.ts'

export interface FileRef {
  readonly mailbox: string
  readonly file: string
}

/** Finds a file until it is swept or has expired without an acknowledgement. */
export async function findFile({ tables }: Inside, { mailbox, file }: FileRef): Promise<FileRow> {
  const row = await tables.db
    .selectFrom('uploads_file')
    .selectAll()
    .where((where) => where.and({ mailbox, id: file, swept_at: null }))
    .where((where) => where.or([where('acked_at', 'is not', null), where('expires_at', '>', tables.now)]))
    .executeTakeFirst()
  if (row === undefined) throw new Refusal('FILE_UNKNOWN')
  return row
}

/** Opens the blob of a row. The sweep may have deleted it since. */
export async function openBlob(
  inside: Inside,
  row: FileRow,
  range: ByteRange,
): Promise<AsyncIterable<Uint8Array>> {
  try {
    return await inside.blobs.read(`${row.upload}/${row.n}`, range)
  } catch (error) {
    if (error instanceof BlobMissing) await findFile(inside, { mailbox: row.mailbox, file: row.id })
    throw error
  }
}

/** Records a fetch that sent the last byte. */
export async function stampFetch({ tables }: Inside, { mailbox, file }: FileRef): Promise<void> {
  await tables.db
    .updateTable('uploads_file')
    .set({
      first_fetched_at: sql<number>`coalesce(first_fetched_at, ${tables.now})`,
      last_fetched_at: tables.now,
      fetches: sql<number>`fetches + 1`,
    })
    .where((where) => where.and({ mailbox, id: file }))
    .execute()
}
