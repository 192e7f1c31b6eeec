/**
 * Tokens of mailboxes: shown once, stored as a hash. A mailbox can have several, so that tokens can be
 * rotated.
 */
import { createHash, randomBytes } from 'node:crypto'
import { checkObjectKeys } from 'jobmill/internal'
import type { Kysely } from 'jobmill-tables'
import { cleanId } from '../clean/ids.ts'
import { MAY, type May, type Schema } from '../tables/schema.ts'
import { idText, JobmillError, quote } from './words.ts'
import type { Inside } from './inside.ts'
import type { Mailbox } from './limits.ts'

export interface NewToken {
  readonly id: string
  /** The token. It cannot be shown again. */
  readonly token: string
}

export interface TokenInfo {
  readonly id: string
  readonly mailbox: string
  readonly label: string
  readonly may: May
  readonly createdAt: number
}

/** The authenticated caller, and the current state of its mailbox. */
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

export interface NewTokenOptions {
  readonly label?: string
  readonly may?: May
  /** A token of your own, 32 to 200 visible ASCII characters. Omit it for a new one. */
  readonly token?: string
}

export interface Tokens {
  readonly add: (mailbox: string, options?: NewTokenOptions) => Promise<NewToken>
  readonly list: (mailbox: string) => Promise<TokenInfo[]>
  /** Returns false if it does not exist. */
  readonly revoke: (id: string) => Promise<boolean>
  /** Null for an unknown or revoked token. */
  readonly holderOf: (token: string) => Promise<Holder | null>
}

const TOKEN_KEYS = ['label', 'may', 'token'] as const satisfies readonly (keyof NewTokenOptions)[]
const LONGEST_LABEL = 100
/** Longer tokens are rejected without a query. */
const LONGEST_TOKEN = 200

export function tokens({ tables, newId }: Pick<Inside, 'tables' | 'newId'>): Tokens {
  const { db } = tables
  return {
    async add(given, options = {}) {
      const mailbox = cleanId(idText(given, 'mailbox'))
      // An unknown option could be a misspelled `may`, and the token would get the widest right.
      checkObjectKeys(options, 'options', TOKEN_KEYS)
      const { label = '', may = 'both', token: ownToken } = options
      if (!MAY.includes(may))
        throw new JobmillError('OPTION_INVALID', `must be one of ${MAY.join(', ')}`, {
          field: 'may',
          value: quote(may),
          fix: `Pass ${MAY.join(' or ')}`,
        })
      if (typeof label !== 'string' || label.length > LONGEST_LABEL)
        throw new JobmillError('NAME_INVALID', `must have at most ${LONGEST_LABEL} characters`, {
          field: 'label',
          fix: 'Pass a shorter label',
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
        throw new JobmillError('OPTION_INVALID', 'must be an existing mailbox', {
          field: 'mailbox',
          value: quote(given),
          fix: 'List the mailboxes with: jobmill-uploads mailboxes list',
        })
      const id = newId()
      const token = ownToken ?? `jmu_${randomBytes(32).toString('base64url')}`
      if (!(await addToken(db, tables.now, { id, mailbox, hash: givenHash(token), label, may })))
        throw new JobmillError('OPTION_CONFLICT', 'is already in use', {
          field: 'token',
          fix: 'Pass another token',
        })
      return { id, token }
    },
    async list(mailbox) {
      const rows = await db
        .selectFrom('uploads_token')
        .selectAll()
        .where('mailbox', '=', cleanId(idText(mailbox, 'mailbox')) ?? '')
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
        .where('id', '=', cleanId(idText(id, 'token')) ?? '')
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

/** The hash of a valid token. An error names the field and never contains the token. */
export function givenHash(token: unknown): string {
  if (typeof token === 'string' && /^[\x21-\x7e]{32,200}$/.test(token)) return hashOf(token)
  throw new JobmillError('OPTION_INVALID', 'must be 32 to 200 visible ASCII characters', {
    field: 'token',
    fix: 'Pass a random token, such as 32 bytes in base64url, or omit it and let tokens.add() generate one',
  })
}

/** Returns false if the token exists, even a revoked one. */
export async function addToken(
  db: Kysely<Schema>,
  now: Inside['tables']['now'],
  row: Omit<Schema['uploads_token'], 'created_at' | 'revoked_at'>,
): Promise<boolean> {
  const added = await db
    .insertInto('uploads_token')
    .values({ ...row, created_at: now, revoked_at: null })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .returning('id')
    .executeTakeFirst()
  return added !== undefined
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
