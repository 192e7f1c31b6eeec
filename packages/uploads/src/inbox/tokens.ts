/** Tokens of mailboxes: shown once, kept as a hash. Several at a time, so that one can take the place of another. */
import { createHash, randomBytes } from 'node:crypto'
import { cleanId } from '../clean/ids.ts'
import { MAY, type May } from '../tables/schema.ts'
import { JobmillError, shown } from './words.ts'
import type { Inside } from './inside.ts'
import type { Mailbox } from './mailboxes.ts'

export interface NewToken {
  readonly id: string
  /** For whoever uses it. Nobody can be told again. */
  readonly token: string
}

export interface TokenInfo {
  readonly id: string
  readonly mailbox: string
  readonly label: string
  readonly may: May
  readonly createdAt: number
}

/** Who asks, and the mailbox as it is now. */
export interface Holder {
  /** The id of the token. */
  readonly token: string
  readonly mailbox: string
  readonly may: May
  readonly limits: Pick<
    Mailbox,
    'quotaBytes' | 'quotaFiles' | 'maxFileBytes' | 'maxRequestBytes' | 'uploadsPerMailbox'
  >
}

export interface Tokens {
  readonly add: (mailbox: string, options?: { label?: string; may?: May }) => Promise<NewToken>
  readonly list: (mailbox: string) => Promise<TokenInfo[]>
  /** False when there is none. */
  readonly revoke: (id: string) => Promise<boolean>
  /** Null for a token that nobody has, or has no longer. */
  readonly holderOf: (token: string) => Promise<Holder | null>
}

const LONGEST_LABEL = 100
/** Longer than any of ours: nothing else is worth a look. */
const LONGEST_TOKEN = 200

export function tokens({ tables, newId }: Pick<Inside, 'tables' | 'newId'>): Tokens {
  const { db } = tables
  return {
    async add(given, { label = '', may = 'both' } = {}) {
      const mailbox = cleanId(given)
      if (!MAY.includes(may))
        throw new JobmillError('OPTION_INVALID', 'is not what a token may do', {
          field: 'may',
          value: shown(may),
          fix: `Say ${MAY.join(', ')}`,
        })
      if (label.length > LONGEST_LABEL)
        throw new JobmillError('NAME_INVALID', `is longer than ${LONGEST_LABEL} characters`, {
          field: 'label',
          fix: 'Give a shorter one',
        })
      const isThere =
        mailbox !== null &&
        (await db
          .selectFrom('uploads_mailbox')
          .select('id')
          .where('id', '=', mailbox)
          .where('deleted_at', 'is', null)
          .executeTakeFirst()) !== undefined
      if (!isThere)
        throw new JobmillError('OPTION_INVALID', 'there is no such mailbox', {
          field: 'mailbox',
          value: shown(given),
          fix: 'List those there are with: jobmill-uploads mailboxes list',
        })
      const id = newId()
      const token = `jmu_${randomBytes(32).toString('base64url')}`
      await db
        .insertInto('uploads_token')
        .values({
          id,
          mailbox,
          hash: hashOf(token),
          label,
          may,
          created_at: tables.now,
          revoked_at: null,
        })
        .execute()
      return { id, token }
    },
    async list(mailbox) {
      const rows = await db
        .selectFrom('uploads_token')
        .selectAll()
        .where('mailbox', '=', cleanId(mailbox) ?? '')
        .where('revoked_at', 'is', null)
        .orderBy('id')
        .execute()
      return rows.map((row) => ({
        id: row.id,
        mailbox: row.mailbox,
        label: row.label,
        may: row.may,
        createdAt: row.created_at,
      }))
    },
    async revoke(id) {
      const { numUpdatedRows } = await db
        .updateTable('uploads_token')
        .set({ revoked_at: tables.now })
        .where('id', '=', cleanId(id) ?? '')
        .where('revoked_at', 'is', null)
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
    async holderOf(token) {
      if (token.length > LONGEST_TOKEN) return null
      const row = await db
        .selectFrom('uploads_token')
        .innerJoin('uploads_mailbox', 'uploads_mailbox.id', 'uploads_token.mailbox')
        .select([
          'uploads_token.id as token',
          'uploads_token.may',
          'uploads_mailbox.id',
          'uploads_mailbox.quota_bytes',
          'uploads_mailbox.quota_files',
          'uploads_mailbox.max_file_bytes',
          'uploads_mailbox.max_request_bytes',
          'uploads_mailbox.uploads_at_once',
        ])
        .where('uploads_token.hash', '=', hashOf(token))
        .where('uploads_token.revoked_at', 'is', null)
        .where('uploads_mailbox.deleted_at', 'is', null)
        .executeTakeFirst()
      if (row === undefined) return null
      return {
        token: row.token,
        mailbox: row.id,
        may: row.may,
        limits: {
          quotaBytes: row.quota_bytes,
          quotaFiles: row.quota_files,
          maxFileBytes: row.max_file_bytes,
          maxRequestBytes: row.max_request_bytes,
          uploadsPerMailbox: row.uploads_at_once,
        },
      }
    },
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
