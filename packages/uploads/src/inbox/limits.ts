/** How much, and for how long: one place for all of it, which the API serves too. */
export interface Limits {
  readonly maxFiles: number
  readonly maxFileBytes: number
  readonly maxRequestBytes: number
  /** Of a mailbox that was made without one of its own; null for none. */
  readonly quotaBytes: number | null
  readonly quotaFiles: number | null
  readonly uploadsAtOnce: number
  /** Of those, to one mailbox. */
  readonly uploadsPerMailbox: number
  /** Event streams and long polls that one process keeps open. */
  readonly listenersAtOnce: number
  /** Of those, of one mailbox. */
  readonly listenersPerMailbox: number
  readonly expireAfterMs: number
  readonly ackRetentionMs: number
  readonly stagingForMs: number
  readonly keysForMs: number
}

/** Blobs of an upload are numbered below this, whatever the options say: so what a dead process left is found without a list. */
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

/** The same for one mailbox, where it has its own. */
export type MailboxLimits = Pick<
  Limits,
  'maxFiles' | 'maxFileBytes' | 'maxRequestBytes' | 'quotaBytes' | 'quotaFiles' | 'uploadsPerMailbox'
>

type Own = { readonly [K in Exclude<keyof MailboxLimits, 'maxFiles'>]: number | null }

export function limitsOf(own: Own, limits: Limits): MailboxLimits {
  const maxRequestBytes = own.maxRequestBytes ?? limits.maxRequestBytes
  return {
    maxFiles: limits.maxFiles,
    // Never more than a request can bring.
    maxFileBytes: Math.min(own.maxFileBytes ?? limits.maxFileBytes, maxRequestBytes),
    maxRequestBytes,
    quotaBytes: own.quotaBytes ?? limits.quotaBytes,
    quotaFiles: own.quotaFiles ?? limits.quotaFiles,
    uploadsPerMailbox: own.uploadsPerMailbox ?? limits.uploadsPerMailbox,
  }
}
