/** Mailboxes: created and removed by an operator, never by senders or consumers. */
import { checkObjectKeys } from 'jobmill/internal'
import type { Kysely } from 'jobmill-tables'
import type { Schema } from '../tables/schema.ts'
import { idText, JobmillError, quote } from './words.ts'
import type { Inside } from './inside.ts'
import { cleanId } from '../clean/ids.ts'
import { type Limits, limitsOf, type Mailbox, type MailboxLimits } from './limits.ts'
import { type Usage, usages } from './receive/quota.ts'
import { addToken, givenHash } from './tokens.ts'

export interface NewMailbox {
  readonly name: string
  /** A UUID of your own, such as a customer id. Omit it for a new one. */
  readonly id?: string
  /** The first token, if your application creates tokens. Omit it for none; see `tokens.add`. */
  readonly token?: string
  /** Omit it to use the limit of the inbox. */
  readonly quotaBytes?: number
  readonly quotaFiles?: number
  readonly maxFileBytes?: number
  readonly maxRequestBytes?: number
  /** Maximum parallel uploads per process. */
  readonly uploadsPerMailbox?: number
}

export interface ListedMailbox extends Mailbox {
  /** The effective limits: its own, or those of the inbox. */
  readonly limits: MailboxLimits
  /** Counts against the quota. */
  readonly used: Usage
}

export interface Mailboxes {
  readonly add: (mailbox: NewMailbox) => Promise<Mailbox>
  readonly list: () => Promise<ListedMailbox[]>
  /** Revokes its tokens; the next sweep deletes its files. Returns false if it does not exist. */
  readonly remove: (id: string) => Promise<boolean>
}

const LONGEST_NAME = 200
const KEYS = {
  name: true,
  id: true,
  token: true,
  quotaBytes: true,
  quotaFiles: true,
  maxFileBytes: true,
  maxRequestBytes: true,
  uploadsPerMailbox: true,
} as const satisfies Record<keyof NewMailbox, true>

export function mailboxes({ tables, newId, limits }: Pick<Inside, 'tables' | 'newId' | 'limits'>): Mailboxes {
  const { db } = tables
  const insert = (trx: Kysely<Schema>, id: string, given: NewMailbox) =>
    trx
      .insertInto('uploads_mailbox')
      .values({
        id,
        name: checkName(given.name),
        quota_bytes: whole(given.quotaBytes, 'quotaBytes', 0),
        quota_files: whole(given.quotaFiles, 'quotaFiles', 0),
        max_file_bytes: whole(given.maxFileBytes, 'maxFileBytes', 1),
        max_request_bytes: whole(given.maxRequestBytes, 'maxRequestBytes', 1),
        uploads_at_once: whole(given.uploadsPerMailbox, 'uploadsPerMailbox', 1),
        last_seq: 0,
        created_at: tables.now,
        last_upload_at: null,
        unfetched_files: 0,
        unfetched_at: null,
        deleted_at: null,
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returningAll()
      .executeTakeFirst()
  return {
    async add(given) {
      checkObjectKeys(given, 'mailbox', Object.keys(KEYS))
      checkCaps(given, limits)
      const id = given.id === undefined ? newId() : givenId(given.id)
      const hash = given.token === undefined ? null : givenHash(given.token)
      const row = await tables.transaction(async (trx) => {
        const made = await insert(trx, id, given)
        if (made === undefined)
          throw exists('id', 'is in use by a mailbox, or by a removed one until the next sweep')
        if (hash === null) return made
        const token = { id: newId(), mailbox: id, hash, label: 'first', may: 'both' as const }
        if (!(await addToken(trx, tables.now, token))) throw exists('token', 'is already in use')
        return made
      })
      return asMailbox(row)
    },
    async list() {
      const rows = await db
        .selectFrom('uploads_mailbox')
        .selectAll()
        .where('deleted_at', 'is', null)
        .orderBy('id')
        .execute()
      const used = await usages(db)
      return rows.map(asMailbox).map((mailbox) => ({
        ...mailbox,
        limits: limitsOf(mailbox, limits),
        used: used.get(mailbox.id) ?? { files: 0, bytes: 0 },
      }))
    },
    async remove(given) {
      const id = cleanId(idText(given, 'mailbox'))
      if (id === null) return false
      const { numUpdatedRows } = await db
        .updateTable('uploads_mailbox')
        .set({ deleted_at: tables.now })
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
  }
}

/** The limits of an existing mailbox; null if it does not exist. */
export async function ownLimits(
  db: Kysely<Schema>,
  id: string,
): Promise<Pick<
  Mailbox,
  'quotaBytes' | 'quotaFiles' | 'maxFileBytes' | 'maxRequestBytes' | 'uploadsPerMailbox'
> | null> {
  const row = await db
    .selectFrom('uploads_mailbox')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row === undefined ? null : asMailbox(row)
}

function givenId(given: unknown): string {
  const id = typeof given === 'string' ? cleanId(given) : null
  if (id !== null) return id
  throw new JobmillError('OPTION_INVALID', 'must be a UUID', {
    field: 'id',
    value: quote(given),
    fix: 'Pass a UUID, or omit it for a new one',
  })
}

function exists(field: string, what: string): JobmillError {
  return new JobmillError('OPTION_CONFLICT', what, { field, fix: `Pass another ${field}` })
}

function asMailbox(row: {
  id: string
  name: string
  quota_bytes: number | null
  quota_files: number | null
  max_file_bytes: number | null
  max_request_bytes: number | null
  uploads_at_once: number | null
  created_at: number
}): Mailbox {
  return {
    id: row.id,
    name: row.name,
    quotaBytes: row.quota_bytes,
    quotaFiles: row.quota_files,
    maxFileBytes: row.max_file_bytes,
    maxRequestBytes: row.max_request_bytes,
    uploadsPerMailbox: row.uploads_at_once,
    createdAt: row.created_at,
  }
}

/** Checked against the effective request limit. */
export function checkCaps(
  { maxFileBytes, maxRequestBytes }: NewMailbox,
  limits: Pick<Limits, 'maxRequestBytes'>,
): void {
  const most = maxRequestBytes ?? limits.maxRequestBytes
  if (maxFileBytes === undefined || maxFileBytes <= most) return
  throw new JobmillError('OPTION_CONFLICT', 'must not exceed the request limit', {
    field: 'maxFileBytes',
    value: quote(maxFileBytes),
    fix: `Pass at most ${most}`,
  })
}

function checkName(name: unknown): string {
  const isText = typeof name === 'string' && name.length > 0 && name.length <= LONGEST_NAME
  // eslint-disable-next-line no-control-regex
  if (isText && name.isWellFormed() && !/[\u0000-\u001f]/.test(name)) return name
  throw new JobmillError('NAME_INVALID', `must be 1 to ${LONGEST_NAME} characters on one line`, {
    field: 'name',
    value: quote(name),
    fix: 'Pass a name that people recognize',
  })
}

function whole(value: number | undefined, field: string, least: number): number | null {
  if (value === undefined) return null
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new JobmillError('NUMBER_INVALID', `must be a whole number of at least ${least}`, {
    field,
    value: quote(value),
    fix: `Pass at least ${least}, or omit it to use the limit of the inbox`,
  })
}
