/** The files of a mailbox for operators, including expired ones, which consumers do not see. */
import { cursorOf, seqOf } from './deliver/cursor.ts'
import { fileView, type FileView } from './deliver/file-view.ts'
import type { Inside } from './inside.ts'

export const LOOK_STATES = ['pending', 'acked', 'expired'] as const

type LookState = (typeof LOOK_STATES)[number]

interface Asked {
  readonly mailbox: string
  readonly state: LookState
  /** Null: from the newest. */
  readonly after: string | null
  readonly limit: number
}

export interface SeenFiles {
  readonly files: readonly (Omit<FileView, 'state'> & { readonly state: LookState })[]
  readonly next: string | null
}

/** Newest first, by sequence number. */
export async function lookAtFiles({ tables }: Inside, asked: Asked): Promise<SeenFiles> {
  const { mailbox, state, after, limit } = asked
  const before =
    after === null ? Number.MAX_SAFE_INTEGER : seqOf(after, mailbox, Number.MAX_SAFE_INTEGER, 'after')
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
    .where('uploads_notice.seq', '<', before)
    .where('uploads_file.swept_at', 'is', null)
    .where('uploads_file.acked_at', state === 'acked' ? 'is not' : 'is', null)
    .$if(state !== 'acked', (query) =>
      query.where('uploads_file.expires_at', state === 'pending' ? '>' : '<=', tables.now),
    )
    .orderBy('uploads_notice.seq', 'desc')
    .limit(limit + 1)
    .execute()
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    files: shown.map((row) => ({ ...fileView(row), state })),
    next: rows.length > limit && last !== undefined ? cursorOf(mailbox, last.seq) : null,
  }
}
