/**
 * Tokens of mailboxes: shown once, stored as a hash. A mailbox can have several, so that tokens can be
 * rotated.
 */
import { hash as digest, randomBytes } from 'node:crypto'
import { JobmillError } from 'jobmill'
import { checkObjectKeys } from 'jobmill/internal'
import type { Kysely } from 'jobmill-tables'
import { cleanId } from '../clean/ids.ts'
import { invalid } from '../invalid.ts'
import { MAY, type May, type Schema } from '../tables/schema.ts'
import { idText } from './ids.ts'
import type { Inside } from './inside.ts'
import { findLimits, OWN_LIMITS, type OwnLimits } from './limits.ts'

export interface NewToken {
  readonly id: string
  /** The token. It cannot be shown again. */
  readonly token: string
}

export interface TokenInfo extends Readonly<Pick<Row, 'id' | 'mailbox' | 'label' | 'may'>> {
  readonly createdAt: number
}

/** The authenticated caller, and the current state of its mailbox. */
export interface Holder {
  /** The id of the token. */
  readonly token: string
  readonly mailbox: string
  readonly may: May
  readonly limits: OwnLimits
}

export interface NewTokenOptions {
  readonly label?: string
  readonly may?: May
  /** A token of your own, 32 to 200 visible ASCII characters. Omit it for a new one. */
  readonly token?: string
}

export type Tokens = ReturnType<typeof tokens>

type Row = Schema['uploads_token']

const TOKEN_KEYS = ['label', 'may', 'token'] as const satisfies readonly (keyof NewTokenOptions)[]
const LONGEST_LABEL = 100
/** Longer tokens are rejected without a query. */
const LONGEST_TOKEN = 200

export function tokens({ tables, platform }: Pick<Inside, 'tables' | 'platform'>) {
  const { db } = tables
  return {
    async add(given: string, options: NewTokenOptions = {}): Promise<NewToken> {
      const mailbox = cleanId(idText(given, 'mailbox'))
      // An unknown option could be a misspelled `may`, and the token would get the widest right.
      checkObjectKeys(options, 'options', TOKEN_KEYS)
      const { label = '', may = 'both', token: ownToken } = options
      if (!MAY.includes(may)) throw invalid('may', may, 'is not a permission', 'Pass upload, consume or both')
      if (typeof label !== 'string' || label.length > LONGEST_LABEL) {
        const what = `must be a string of at most ${LONGEST_LABEL} characters`
        throw invalid('label', label, what, 'Pass a shorter label', 'NAME_INVALID')
      }
      if (mailbox === null || (await findLimits(db, mailbox)) === null) {
        const fix = 'List the mailboxes with: jobmill-uploads mailboxes list'
        throw invalid('mailbox', given, 'is not the id of a mailbox', fix)
      }
      const id = platform.id()
      const token = ownToken ?? `jmu_${randomBytes(32).toString('base64url')}`
      await addToken(db, tables.now, { id, mailbox, hash: givenHash(token), label, may })
      return { id, token }
    },
    async list(mailbox: string): Promise<TokenInfo[]> {
      const id = cleanId(idText(mailbox, 'mailbox')) ?? ''
      return db
        .selectFrom('uploads_token')
        .select(['id', 'mailbox', 'label', 'may', 'created_at as createdAt'])
        .where((token) => token.and({ mailbox: id, revoked_at: null }))
        .orderBy('id')
        .execute()
    },
    /** Returns false if it does not exist. */
    async revoke(id: string): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('uploads_token')
        .set({ revoked_at: tables.now })
        .where((token) => token.and({ id: cleanId(idText(id, 'token')) ?? '', revoked_at: null }))
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
    /** Null for an unknown or revoked token. */
    async holderOf(given: string): Promise<Holder | null> {
      if (given.length > LONGEST_TOKEN) return null
      const row = await db
        .selectFrom('uploads_token')
        .innerJoin('uploads_mailbox', 'uploads_mailbox.id', 'uploads_token.mailbox')
        .select(['uploads_token.id as token', 'mailbox', 'may', ...OWN_LIMITS])
        .where((where) => where.and({ hash: hashOf(given), revoked_at: null, deleted_at: null }))
        .executeTakeFirst()
      if (row === undefined) return null
      const { token, mailbox, may, ...limits } = row
      return { token, mailbox, may, limits }
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

/** Rejects a token that exists, even a revoked one. */
export async function addToken(
  db: Kysely<Schema>,
  now: Inside['tables']['now'],
  row: Omit<Row, 'created_at' | 'revoked_at'>,
): Promise<void> {
  const added = await db
    .insertInto('uploads_token')
    .values({ ...row, created_at: now })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (added === undefined) throw inUse('token', 'is already in use')
}

export function inUse(field: string, what: string): JobmillError {
  return new JobmillError('OPTION_CONFLICT', what, { field, fix: `Pass another ${field}` })
}

function hashOf(token: string): string {
  return digest('sha256', token, 'hex')
}
