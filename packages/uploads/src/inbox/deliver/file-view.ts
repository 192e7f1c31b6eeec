/** A file as the API shows it to the mailbox. */
import type { Schema } from '../../tables/schema.ts'

export interface FileView {
  readonly id: string
  /** A reference to the file, for use in messages. */
  readonly uri: string
  readonly name: string
  readonly mimeType: string
  readonly size: number
  readonly sha256: string
  readonly state: 'pending' | 'acked'
  readonly createdAt: string
  readonly expiresAt: string
  readonly firstFetchedAt: string | null
  readonly lastFetchedAt: string | null
  readonly fetches: number
  readonly ackedAt: string | null
}

export type FileRow = Schema['uploads_file']

export function uriOf(mailbox: string, file: string): string {
  return `jobmill-upload:${mailbox}/${file}`
}

export function fileView(row: FileRow): FileView {
  return {
    id: row.id,
    uri: uriOf(row.mailbox, row.id),
    name: row.name,
    mimeType: row.type,
    size: row.size,
    sha256: row.sha256,
    state: row.acked_at === null ? 'pending' : 'acked',
    createdAt: instant(row.created_at),
    expiresAt: instant(row.expires_at),
    firstFetchedAt: orNull(row.first_fetched_at),
    lastFetchedAt: orNull(row.last_fetched_at),
    fetches: row.fetches,
    ackedAt: orNull(row.acked_at),
  }
}

function instant(ms: number): string {
  return new Date(ms).toISOString()
}

function orNull(ms: number | null): string | null {
  return ms === null ? null : instant(ms)
}
