/** Mailboxes: created and removed by an operator, never by senders or consumers. */
import { checkObjectKeys } from 'jobmill/internal'
import type { Kysely } from 'jobmill-tables'
import { cleanId } from '../clean/ids.ts'
import { invalid } from '../invalid.ts'
import type { Schema } from '../tables/schema.ts'
import { idOf, idText } from './ids.ts'
import type { Inside } from './inside.ts'
import { limitsOf, type Mailbox, type MailboxLimits, OWN_LIMITS, type OwnLimits } from './limits.ts'
import { type Usage, usages } from './receive/quota.ts'
import { addToken, givenHash, inUse } from './tokens.ts'

/** Omit a limit to use that of the inbox. */
export interface NewMailbox extends Readonly<Partial<Record<keyof OwnLimits, number>>> {
  readonly name: string
  /** A UUID of your own, such as a customer id. Omit it for a new one. */
  readonly id?: string
  /** The first token, if your application creates tokens. Omit it for none; see `tokens.add`. */
  readonly token?: string
}

export interface ListedMailbox extends Mailbox {
  /** The effective limits: its own, or those of the inbox. */
  readonly limits: MailboxLimits
  /** Counts against the quota. */
  readonly used: Usage
}

export type Mailboxes = ReturnType<typeof mailboxes>

const LONGEST_NAME = 200
/** The least value of each limit. */
const LEAST = { quotaBytes: 0, quotaFiles: 0, maxFileBytes: 1, maxRequestBytes: 1, uploadsPerMailbox: 1 }
const COLUMNS = ['id', 'name', ...OWN_LIMITS, 'created_at as createdAt'] as const

export function mailboxes({ tables, platform, limits }: Inside) {
  const { db } = tables
  const insert = (trx: Kysely<Schema>, id: string, given: NewMailbox) => {
    const own = (field: keyof OwnLimits): number | null => whole(given[field], field, LEAST[field])
    return trx
      .insertInto('uploads_mailbox')
      .values({
        id,
        name: checkName(given.name),
        quota_bytes: own('quotaBytes'),
        quota_files: own('quotaFiles'),
        max_file_bytes: own('maxFileBytes'),
        max_request_bytes: own('maxRequestBytes'),
        uploads_at_once: own('uploadsPerMailbox'),
        last_seq: 0,
        created_at: tables.now,
        unfetched_files: 0,
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning(COLUMNS)
      .executeTakeFirst()
  }
  return {
    async add(given: NewMailbox): Promise<Mailbox> {
      checkObjectKeys(given, 'mailbox', ['name', 'id', 'token', ...Object.keys(LEAST)])
      checkCaps(given, limits)
      const id =
        given.id === undefined ? platform.id() : idOf(given.id, 'id', 'Pass a UUID, or omit it for a new one')
      const hash = given.token === undefined ? null : givenHash(given.token)
      return tables.transaction(async (trx) => {
        const made = await insert(trx, id, given)
        if (made === undefined)
          throw inUse('id', 'is in use by a mailbox, or by a removed one until the next sweep')
        const first = { mailbox: id, label: 'first', may: 'both' as const }
        if (hash !== null) await addToken(trx, tables.now, { ...first, id: platform.id(), hash })
        return made
      })
    },
    async list(): Promise<ListedMailbox[]> {
      const rows = await db
        .selectFrom('uploads_mailbox')
        .select(COLUMNS)
        .where('deleted_at', 'is', null)
        .orderBy('id')
        .execute()
      const used = await usages(db)
      return rows.map((mailbox) => ({
        ...mailbox,
        limits: limitsOf(mailbox, limits),
        used: used.get(mailbox.id) ?? { files: 0, bytes: 0 },
      }))
    },
    /** Revokes its tokens; the next sweep deletes its files. Returns false if it does not exist. */
    async remove(given: string): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('uploads_mailbox')
        .set({ deleted_at: tables.now })
        .where((mailbox) => mailbox.and({ id: cleanId(idText(given, 'mailbox')) ?? '', deleted_at: null }))
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
  }
}

/** Checked against the effective request limit. */
export function checkCaps(
  { maxFileBytes, maxRequestBytes }: NewMailbox,
  limits: Pick<MailboxLimits, 'maxRequestBytes'>,
): void {
  const most = maxRequestBytes ?? limits.maxRequestBytes
  if (maxFileBytes === undefined || maxFileBytes <= most) return
  const what = 'must not exceed the request limit'
  throw invalid('maxFileBytes', maxFileBytes, what, `Pass at most ${most}`, 'OPTION_CONFLICT')
}

function checkName(name: unknown): string {
  const isText = typeof name === 'string' && name.length > 0 && name.length <= LONGEST_NAME
  // eslint-disable-next-line no-control-regex
  if (isText && name.isWellFormed() && !/[\u0000-\u001f]/.test(name)) return name
  const what = `must be 1 to ${LONGEST_NAME} characters on one line`
  const fix = `Pass 1 to ${LONGEST_NAME} characters without line breaks or control characters`
  throw invalid('name', name, what, fix, 'NAME_INVALID')
}

function whole(value: number | undefined, field: string, least: number): number | null {
  if (value === undefined) return null
  if (Number.isSafeInteger(value) && value >= least) return value
  const fix = `Pass at least ${least}, or omit it to use the limit of the inbox`
  throw invalid(field, value, `must be a whole number of at least ${least}`, fix, 'NUMBER_INVALID')
}
