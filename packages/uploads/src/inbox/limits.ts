/** The limits of the inbox. The API serves them too. */
export interface Limits {
  readonly maxFiles: number
  readonly maxFileBytes: number
  readonly maxRequestBytes: number
  /** For a mailbox without its own quota; null for unlimited. */
  readonly quotaBytes: number | null
  readonly quotaFiles: number | null
  readonly uploadsAtOnce: number
  /** Per mailbox. */
  readonly uploadsPerMailbox: number
  /** Maximum open event streams and long polls per process. */
  readonly listenersAtOnce: number
  /** Per mailbox. */
  readonly listenersPerMailbox: number
  readonly expireAfterMs: number
  readonly ackRetentionMs: number
  readonly stagingForMs: number
  readonly keysForMs: number
}

/**
 * The hard limit for blobs per upload, whatever the options say. So the sweep can delete leftovers without a
 * listing.
 */
export const MOST_FILES = 64

export const LIMITS: Limits = Object.freeze({
  maxFiles: MOST_FILES,
  maxFileBytes: 100 * 1_024 * 1_024,
  maxRequestBytes: 256 * 1_024 * 1_024,
  quotaBytes: 10 * 1_024 ** 3,
  quotaFiles: 10_000,
  uploadsAtOnce: 256,
  uploadsPerMailbox: 16,
  listenersAtOnce: 1_000,
  listenersPerMailbox: 32,
  expireAfterMs: 24 * 3_600_000,
  ackRetentionMs: 3_600_000,
  stagingForMs: 3_600_000,
  keysForMs: 24 * 3_600_000,
})

/** The limits of one mailbox: its own, or those of the inbox. */
export type MailboxLimits = Pick<
  Limits,
  'maxFiles' | 'maxFileBytes' | 'maxRequestBytes' | 'quotaBytes' | 'quotaFiles' | 'uploadsPerMailbox'
>

type Own = { readonly [K in Exclude<keyof MailboxLimits, 'maxFiles'>]: number | null }

export function limitsOf(own: Own, limits: Limits): MailboxLimits {
  const maxRequestBytes = own.maxRequestBytes ?? limits.maxRequestBytes
  return {
    maxFiles: limits.maxFiles,
    // Never more than a request can carry.
    maxFileBytes: Math.min(own.maxFileBytes ?? limits.maxFileBytes, maxRequestBytes),
    maxRequestBytes,
    quotaBytes: own.quotaBytes ?? limits.quotaBytes,
    quotaFiles: own.quotaFiles ?? limits.quotaFiles,
    uploadsPerMailbox: own.uploadsPerMailbox ?? limits.uploadsPerMailbox,
  }
}

export interface Mailbox {
  readonly id: string
  readonly name: string
  readonly quotaBytes: number | null
  readonly quotaFiles: number | null
  readonly maxFileBytes: number | null
  readonly maxRequestBytes: number | null
  readonly uploadsPerMailbox: number | null
  readonly createdAt: number
}
