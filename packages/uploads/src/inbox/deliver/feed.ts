/**
 * The feed of a mailbox: new files in order. Unacknowledged files can always be listed again, so that a
 * failed fetch loses nothing.
 */
import { Refusal } from '../../refusal.ts'
import { cursorOf, seqOf } from './cursor.ts'
import { fileView, type FileView } from './file-view.ts'
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

export interface FeedPage {
  readonly files: readonly (FileView & { readonly cursor: string })[]
  /** Pass it to get the next page, even if this one is empty. */
  readonly cursor: string
  readonly more: boolean
  /** The sequence number of the cursor, for waiting. */
  readonly seq: number
}

export async function feed({ tables }: Pick<Inside, 'tables'>, request: FeedRequest): Promise<FeedPage> {
  const { mailbox, state, after, limit, field = 'after' } = request
  // Read this first: everything up to it is committed, so the cursor can safely advance that far.
  const last = await lastSeqOf({ tables }, mailbox)
  const from = after === null ? 0 : seqOf(after, mailbox, last, field)
  const rows = await tables.db
    .selectFrom('uploads_notice')
    .innerJoin('uploads_file', (join) =>
      join
        .onRef('uploads_file.mailbox', '=', 'uploads_notice.mailbox')
        .onRef('uploads_file.id', '=', 'uploads_notice.file'),
    )
    .selectAll('uploads_file')
    .select('uploads_notice.seq')
    .where('uploads_notice.mailbox', '=', mailbox)
    .where('uploads_notice.seq', '>', from)
    .where('uploads_file.swept_at', 'is', null)
    .where((where) => {
      const isAcked = where('uploads_file.acked_at', 'is not', null)
      const isLive = where('uploads_file.expires_at', '>', tables.now)
      if (state === 'pending') return where.and([where('uploads_file.acked_at', 'is', null), isLive])
      return where.or([isAcked, isLive])
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
    cursor: cursorOf(mailbox, seq),
    more,
    seq,
  }
}

async function lastSeqOf({ tables }: Pick<Inside, 'tables'>, mailbox: string): Promise<number> {
  const row = await tables.db
    .selectFrom('uploads_mailbox')
    .select('last_seq')
    .where('id', '=', mailbox)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined) throw new Refusal('TOKEN_WRONG')
  return row.last_seq
}

/** Reads the last sequence numbers of many mailboxes at once, to wake the requests that wait for files. */
export async function lastSeqs(
  { tables }: Pick<Inside, 'tables'>,
  mailboxes: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>()
  for (let at = 0; at < mailboxes.length; at += 500) {
    const rows = await tables.db
      .selectFrom('uploads_mailbox')
      .select(['id', 'last_seq'])
      .where('id', 'in', mailboxes.slice(at, at + 500))
      .where('deleted_at', 'is', null)
      .execute()
    for (const { id, last_seq } of rows) found.set(id, last_seq)
  }
  return found
}
