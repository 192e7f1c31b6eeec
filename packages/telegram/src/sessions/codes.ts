/**
 * Opens sessions with one-time codes or the shared secret. Too many wrong codes lock out their sender. Too
 * many from all senders together disable the shared secret, because an attacker could guess with many
 * accounts. One-time codes cannot be guessed and keep working, so that an attacker cannot lock out everyone.
 */
import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import { sql, type Tables, type Transaction } from 'jobmill-tables'
import type { AuthConfig } from '../config/config.ts'
import type { Schema } from './steps.ts'
import { EVERYBODY, LOCK, LOCKOUT, wrongTries } from './wrong-tries.ts'

/** Letters and digits that are hard to confuse. */
const LETTERS = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
const LENGTH = 12

interface NewCode {
  readonly scopes: readonly string[]
  readonly ttlMs: number
  /** Limits the code to this user. */
  readonly userId?: number
}

interface Attempt {
  readonly userId: number
  /** The code, from `seal`. */
  readonly sealed: string
  /** The key of the update. A redelivered update does not count as a second attempt. */
  readonly key: string
}

export type Verdict =
  | { readonly outcome: 'right'; readonly scopes: readonly string[] }
  | { readonly outcome: 'wrong'; readonly triesLeft: number }
  | { readonly outcome: 'locked'; readonly forMs: number }
  /**
   * The shared secret is disabled, and the code is not a valid one-time code. Does not reveal whether it was
   * the secret.
   */
  | { readonly outcome: 'shut'; readonly forMs: number }

export interface Codes {
  /** Returns the code. Only its hash is stored. */
  readonly issue: (code: NewCode) => Promise<string>
  /** Hashes a code that a user entered, so that it can be stored until it is tried. */
  readonly seal: (code: string) => string
  readonly try: (attempt: Attempt) => Promise<Verdict>
  readonly list: () => Promise<
    { scope: string; user_id: number | null; expires_at: number; used_by: number | null }[]
  >
}

/** `onShut` is called when the shared secret gets disabled. */
export function codes(
  tables: Tables<Schema>,
  { secret, scope }: AuthConfig,
  { onShut = () => {} }: { readonly onShut?: () => void } = {},
): Codes {
  const wrong = wrongTries(tables)
  const hashOf = (code: string): string => createHmac('sha256', secret).update(code).digest('hex')

  /** Compares in constant time. */
  function isShared(hash: string): boolean {
    const [given, shared] = [Buffer.from(hash), Buffer.from(hashOf(secret))]
    return given.length === shared.length && timingSafeEqual(given, shared)
  }

  return {
    async issue({ scopes, ttlMs, userId }) {
      const code = Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')
      await tables.db
        .insertInto('telegram_code')
        .values({
          hash: hashOf(code),
          scope: scopes.join(' '),
          created_at: tables.now,
          expires_at: sql<number>`${tables.now} + ${sql.lit(ttlMs)}`,
          user_id: userId ?? null,
          used_at: null,
          used_by: null,
          used_key: null,
        })
        .execute()
      return code
    },

    /** The shared secret is compared exactly, a one-time code in upper case. */
    seal: (code) => `${hashOf(code)}.${hashOf(code.trim().toUpperCase())}`,

    /** One transaction that locks the user's row, so that concurrent attempts are all counted. */
    async try({ userId, sealed, key }) {
      const [shared = '', once = ''] = sealed.split('.')
      const { verdict, hasShut } = await tables.transaction(async (db) => {
        const own = await wrong.stateOf(db, userId)
        if (own.leftMs > 0) return verdictOnly({ outcome: 'locked', forMs: own.leftMs })
        const scopes = await take(db)
        if (scopes !== null) return right(db, scopes)
        const { leftMs } = await wrong.stateOf(db, EVERYBODY)
        if (leftMs > 0) return verdictOnly({ outcome: 'shut', forMs: leftMs })
        if (isShared(shared)) return right(db, scope)
        if (!(await wrong.isNew(db, key)))
          return verdictOnly({ outcome: 'wrong', triesLeft: LOCK.tries - own.tries })
        const { tries, isLocked } = await wrong.count(db, userId, LOCK)
        const all = await wrong.count(db, EVERYBODY, LOCKOUT)
        const verdict: Verdict = isLocked
          ? { outcome: 'locked', forMs: LOCK.forMs }
          : { outcome: 'wrong', triesLeft: LOCK.tries - tries }
        return { verdict, hasShut: all.isLocked }
      })
      if (hasShut) onShut()
      return verdict

      async function right(db: Transaction<Schema>, scopes: readonly string[]) {
        await wrong.forget(db, userId)
        return verdictOnly({ outcome: 'right', scopes })
      }

      /** Matches a code that is unused, or was used by this same update. */
      async function take(db: Transaction<Schema>): Promise<string[] | null> {
        const row = await db
          .updateTable('telegram_code')
          .set({ used_at: tables.now, used_by: userId, used_key: key })
          .where('hash', '=', once)
          .where('expires_at', '>', tables.now)
          .where((is) => is.or([is('used_key', 'is', null), is('used_key', '=', key)]))
          .where((is) => is.or([is('user_id', 'is', null), is('user_id', '=', userId)]))
          .returning('scope')
          .executeTakeFirst()
        return row === undefined ? null : row.scope.split(' ')
      }
    },

    async list() {
      return tables.db
        .selectFrom('telegram_code')
        .select(['scope', 'user_id', 'expires_at', 'used_by'])
        .where('expires_at', '>', tables.now)
        .orderBy('created_at')
        .execute()
    },
  }
}

/** A verdict that does not disable the shared secret. */
function verdictOnly(verdict: Verdict): { readonly verdict: Verdict; readonly hasShut: boolean } {
  return { verdict, hasShut: false }
}
