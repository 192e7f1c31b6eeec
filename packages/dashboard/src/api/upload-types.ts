/** The upload inbox as its application returns it. Times are ISO strings. */

interface Sum {
  readonly files: number
  readonly bytes: number
}

interface Unfetched {
  readonly files: number
  readonly lastAt: string | null
}

export interface Mailbox {
  readonly id: string
  readonly name: string
  readonly createdAt: string
  readonly lastUploadAt: string | null
  readonly pending: Sum & { readonly oldestAt: string | null }
  readonly acked: number
  readonly expired: number
  readonly stored: Sum
  readonly expiredUnfetched: Unfetched
  readonly limits: { readonly quotaBytes: number | null; readonly quotaFiles: number | null }
}

export interface MailboxPage {
  readonly mailboxes: readonly Mailbox[]
  readonly next: string | null
  /** Mailboxes with files that recently expired unfetched, the latest first. */
  readonly expiredUnfetched: readonly ({ readonly id: string; readonly name: string } & Unfetched)[]
}

export const FILE_STATES = ['pending', 'acked', 'expired'] as const
export type FileState = (typeof FILE_STATES)[number]

interface UploadedFile {
  readonly id: string
  readonly name: string
  readonly mimeType: string
  readonly size: number
  readonly createdAt: string
  readonly expiresAt: string
  readonly lastFetchedAt: string | null
  readonly fetches: number
  readonly ackedAt: string | null
}

export interface FilePage {
  readonly files: readonly UploadedFile[]
  readonly next: string | null
}
