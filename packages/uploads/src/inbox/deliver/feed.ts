/**
 * The feed of a mailbox: new files in order. Unacknowledged files can always be listed again, so that a
 * failed fetch loses nothing.
 */
import type { Kysely } from 'jobmill-tables'
import { Refusal } from '../../refusal.ts'
import type { Schema } from '../../tables/schema.ts'
import { fileView } from './file-view.ts'
import type { Inside } from '../inside.ts'

export const FEED_STATES = ['pending', 'all'] as const

export interface FeedRequest {
  readonly mailbox: string
  readonly state: (typeof FEED_STATES)[number]
  /** Null: from the beginning. */
  readonly after: string | null
  readonly limit: number
  /** The parameter that the cursor came in. */
  readonly field?: string
}

export type FeedPage = Awaited<ReturnType<typeof feed>>

export async function feed({ tables }: Inside, request: FeedRequest) {
  const { mailbox, state, after, limit, field = 'after' } = request
  // Read this first: everything up to it is committed, so the cursor can safely advance that far.
  const last = (await lastSeqs(tables.db, [mailbox])).get(mailbox)
  if (last === undefined) throw new Refusal('TOKEN_WRONG')
  const from = after === null ? 0 : seqOf(after, mailbox, last, field)
  const rows = await numberedFiles(tables.db, mailbox)
    .where('uploads_notice.seq', '>', from)
    .where((where) => {
      const isLive = where('expires_at', '>', tables.now)
      if (state === 'pending') return where.and([where('acked_at', 'is', null), isLive])
      return where.or([where('acked_at', 'is not', null), isLive])
    })
    .orderBy('uploads_notice.seq')
    .limit(limit + 1)
    .execute()
  const shown = rows.slice(0, limit)
  const more = rows.length > limit
  const lastShown = shown.at(-1)?.seq ?? from
  const seq = more ? lastShown : Math.max(lastShown, last)
  return {
    files: shown.map((row) => ({ ...fileView(row), cursor: cursorOf(mailbox, row.seq) })),
    /** Pass it to get the next page, even if this one is empty. */
    cursor: cursorOf(mailbox, seq),
    more,
    /** The sequence number of the cursor, for waiting. */
    seq,
  }
}

/** The files of a mailbox with their sequence numbers. */
export function numberedFiles(db: Kysely<Schema>, mailbox: string) {
  return db
    .selectFrom('uploads_notice')
    .innerJoin('uploads_file', (join) =>
      join
        .onRef('uploads_file.mailbox', '=', 'uploads_notice.mailbox')
        .onRef('uploads_file.id', '=', 'uploads_notice.file'),
    )
    .selectAll('uploads_file')
    .select('uploads_notice.seq')
    .where('uploads_notice.mailbox', '=', mailbox)
    .where('uploads_file.swept_at', 'is', null)
}

/** The position of a reader, as an opaque string. */
export function cursorOf(mailbox: string, seq: number): string {
  return Buffer.from(`1:${mailbox}:${seq}`).toString('base64url')
}

/** `last` is the sequence number of the mailbox's last notice. */
export function seqOf(cursor: string, mailbox: string, last: number, field: string): number {
  const text = Buffer.from(cursor.slice(0, 200), 'base64url').toString()
  const [, of, seq] = /^1:([0-9a-f-]{36}):(\d{1,15})$/.exec(text) ?? []
  if (of === undefined || seq === undefined)
    throw new Refusal('CURSOR_INVALID', { field, fix: 'Pass a cursor from a response, or omit it' })
  if (of !== mailbox || Number(seq) > last)
    throw new Refusal('CURSOR_GONE', {
      field,
      detail: 'the cursor belongs to another mailbox, or the database was restored from a backup',
      fix: 'Omit it to list all unacknowledged files from the beginning',
    })
  return Number(seq)
}

/** Reads the last sequence numbers of the mailboxes that exist. */
export async function lastSeqs(db: Kysely<Schema>, ids: readonly string[]): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (let at = 0; at < ids.length; at += 500) {
    const rows = await db
      .selectFrom('uploads_mailbox')
      .select(['id', 'last_seq'])
      .where('id', 'in', ids.slice(at, at + 500))
      .where('deleted_at', 'is', null)
      .execute()
    for (const { id, last_seq } of rows) found.set(id, last_seq)
  }
  return found
}
