/** A file as the API shows it to the mailbox. */
import type { Schema } from '../../tables/schema.ts'

export type FileView = Readonly<ReturnType<typeof fileView>>

export type FileRow = Schema['uploads_file']

export function uriOf(mailbox: string, file: string): string {
  return `jobmill-upload:${mailbox}/${file}`
}

export function fileView(row: FileRow) {
  const state: 'pending' | 'acked' = row.acked_at === null ? 'pending' : 'acked'
  return {
    id: row.id,
    /** A reference to the file, for use in messages. */
    uri: uriOf(row.mailbox, row.id),
    name: row.name,
    mimeType: row.type,
    size: row.size,
    sha256: row.sha256,
    state,
    createdAt: new Date(row.created_at).toISOString(),
    expiresAt: new Date(row.expires_at).toISOString(),
    firstFetchedAt: instant(row.first_fetched_at),
    lastFetchedAt: instant(row.last_fetched_at),
    fetches: row.fetches,
    ackedAt: instant(row.acked_at),
  }
}

export function instant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
