/** The files of a mailbox for operators, including expired ones, which consumers do not see. */
import { cursorOf, numberedFiles, seqOf } from './deliver/feed.ts'
import { fileView } from './deliver/file-view.ts'
import type { Inside } from './inside.ts'

export const LOOK_STATES = ['pending', 'acked', 'expired'] as const

export type SeenFiles = Awaited<ReturnType<typeof lookAtFiles>>

interface Asked {
  readonly mailbox: string
  readonly state: (typeof LOOK_STATES)[number]
  /** Null: from the newest. */
  readonly after: string | null
  readonly limit: number
}

/** Newest first, by sequence number. */
export async function lookAtFiles({ tables }: Inside, asked: Asked) {
  const { mailbox, state, after, limit } = asked
  const before =
    after === null ? Number.MAX_SAFE_INTEGER : seqOf(after, mailbox, Number.MAX_SAFE_INTEGER, 'after')
  const rows = await numberedFiles(tables.db, mailbox)
    .where('uploads_notice.seq', '<', before)
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
