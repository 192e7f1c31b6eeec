/**
 * Opens sessions with one-time codes or the shared secret. Too many wrong codes lock out their sender. Too
 * many wrong codes from all senders together disable the shared secret, because an attacker could guess with
 * many accounts. One-time codes cannot be guessed and keep working, so an attacker cannot lock out everyone.
 */
import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import { sql, type Tables, type Transaction } from 'jobmill-tables'
import type { AuthConfig } from '../config/config.ts'
import type { Schema } from './steps.ts'
import { EVERYBODY, LOCK, LOCKOUT, wrongTries } from './wrong-tries.ts'

/** Letters and digits that are hard to confuse. */
const LETTERS = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
const LENGTH = 12

export interface NewCode {
  readonly scopes: readonly string[]
  readonly ttlMs: number
  /** Limits the code to this user. */
  readonly userId?: number
}

export interface Attempt {
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

export type Codes = ReturnType<typeof codes>

/** `onShut` is called when the shared secret gets disabled. */
export function codes(
  tables: Tables<Schema>,
  { secret, scope }: AuthConfig,
  { onShut = () => {} }: { readonly onShut?: () => void } = {},
) {
  const wrong = wrongTries(tables)
  const hashOf = (code: string): string => createHmac('sha256', secret).update(code).digest('hex')

  /** Compares in constant time. */
  function isShared(hash: string): boolean {
    const [given, shared] = [Buffer.from(hash), Buffer.from(hashOf(secret))]
    return given.length === shared.length && timingSafeEqual(given, shared)
  }

  return {
    /** Returns the code. Only its hash is stored. */
    issue: async ({ scopes, ttlMs, userId }: NewCode): Promise<string> => {
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

    /**
     * Hashes a code that a user entered, so that it can be stored until it is tried. The shared secret is
     * compared exactly, a one-time code in upper case.
     */
    seal: (code: string): string => `${hashOf(code)}.${hashOf(code.trim().toUpperCase())}`,

    /** In one transaction that locks the user's row, so that concurrent attempts are all counted. */
    try: async ({ userId, sealed, key }: Attempt): Promise<Verdict> => {
      const [shared = '', once = ''] = sealed.split('.')
      const { hasShut = false, ...verdict } = await tables.transaction(judge)
      if (hasShut) onShut()
      return verdict

      async function judge(db: Transaction<Schema>): Promise<Verdict & { hasShut?: boolean }> {
        const own = await wrong.stateOf(db, userId)
        if (own.leftMs > 0) return { outcome: 'locked', forMs: own.leftMs }
        const scopes = await take(db)
        if (scopes !== null) return right(db, scopes)
        const { leftMs } = await wrong.stateOf(db, EVERYBODY)
        if (leftMs > 0) return { outcome: 'shut', forMs: leftMs }
        if (isShared(shared)) return right(db, scope)
        if (!(await wrong.isNew(db, key))) return { outcome: 'wrong', triesLeft: LOCK.tries - own.tries }
        const { tries, isLocked } = await wrong.count(db, userId, LOCK)
        const { isLocked: hasShut } = await wrong.count(db, EVERYBODY, LOCKOUT)
        if (isLocked) return { outcome: 'locked', forMs: LOCK.forMs, hasShut }
        return { outcome: 'wrong', triesLeft: LOCK.tries - tries, hasShut }
      }

      async function right(db: Transaction<Schema>, scopes: readonly string[]): Promise<Verdict> {
        await wrong.forget(db, userId)
        return { outcome: 'right', scopes }
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

    list: () =>
      tables.db
        .selectFrom('telegram_code')
        .select(['scope', 'user_id', 'expires_at', 'used_by'])
        .where('expires_at', '>', tables.now)
        .orderBy('created_at')
        .execute(),
  }
}
