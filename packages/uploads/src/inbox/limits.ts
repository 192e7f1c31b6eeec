/** The limits of the inbox. The API serves them too. */
import type { Kysely } from 'jobmill-tables'
import type { Schema } from '../tables/schema.ts'

/**
 * The hard limit for blobs per upload, whatever the options say. So the sweep can delete leftovers without a
 * listing.
 */
export const MOST_FILES = 64

const DEFAULTS = {
  maxFiles: MOST_FILES,
  maxFileBytes: 100 * 1_024 * 1_024,
  maxRequestBytes: 256 * 1_024 * 1_024,
  /** For a mailbox without its own quota; null for unlimited. */
  quotaBytes: (10 * 1_024 ** 3) as number | null,
  quotaFiles: 10_000 as number | null,
  uploadsAtOnce: 256,
  /** Per mailbox. */
  uploadsPerMailbox: 16,
  /** Maximum open event streams and long polls per process. */
  listenersAtOnce: 1_000,
  /** Per mailbox. */
  listenersPerMailbox: 32,
  expireAfterMs: 24 * 3_600_000,
  ackRetentionMs: 3_600_000,
  stagingForMs: 3_600_000,
  keysForMs: 24 * 3_600_000,
}

export type Limits = Readonly<typeof DEFAULTS>

export const LIMITS: Limits = Object.freeze(DEFAULTS)

/** The limits of one mailbox: its own, or those of the inbox. */
export type MailboxLimits = Pick<
  Limits,
  'maxFiles' | 'maxFileBytes' | 'maxRequestBytes' | 'quotaBytes' | 'quotaFiles' | 'uploadsPerMailbox'
>

/** Null: the limit of the inbox. */
export type OwnLimits = { readonly [K in Exclude<keyof MailboxLimits, 'maxFiles'>]: number | null }

/** The columns of the own limits of a mailbox. */
export const OWN_LIMITS = [
  'quota_bytes as quotaBytes',
  'quota_files as quotaFiles',
  'max_file_bytes as maxFileBytes',
  'max_request_bytes as maxRequestBytes',
  'uploads_at_once as uploadsPerMailbox',
] as const

/** Null if the mailbox does not exist. */
export async function findLimits(db: Kysely<Schema>, id: string): Promise<OwnLimits | null> {
  const row = await db
    .selectFrom('uploads_mailbox')
    .select(OWN_LIMITS)
    .where((mailbox) => mailbox.and({ id, deleted_at: null }))
    .executeTakeFirst()
  return row ?? null
}

export function limitsOf(own: OwnLimits, limits: Limits): MailboxLimits {
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

export interface Mailbox extends OwnLimits {
  readonly id: string
  readonly name: string
  readonly createdAt: number
}
