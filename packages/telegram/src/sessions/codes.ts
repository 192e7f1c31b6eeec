/** What opens a session: codes that work once, made at the command line, and the shared secret. Too many wrong ones lock their sender out. */
import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import { sql, type Tables } from 'jobmill-tables'
import type { AuthConfig } from '../config/config.ts'
import type { Schema } from './steps.ts'

/** Without letters and digits that are taken for each other. */
const LETTERS = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
const LENGTH = 12

const LOCK = { tries: 5, withinMs: 15 * 60_000, forMs: 15 * 60_000 }

interface NewCode {
  readonly scopes: readonly string[]
  readonly ttlMs: number
  /** For this user alone. */
  readonly userId?: number
}

interface Attempt {
  readonly userId: number
  readonly code: string
  /** Of the update that brings it: brought again, it is no second try. */
  readonly key: string
}

export type Verdict =
  | { readonly outcome: 'right'; readonly scopes: readonly string[] }
  | { readonly outcome: 'wrong'; readonly triesLeft: number }
  | { readonly outcome: 'locked'; readonly forMs: number }

export interface Codes {
  /** The code itself is told once, and kept nowhere. */
  readonly issue: (code: NewCode) => Promise<string>
  readonly try: (attempt: Attempt) => Promise<Verdict>
  readonly list: () => Promise<
    { scope: string; user_id: number | null; expires_at: number; used_by: number | null }[]
  >
}

export function codes(tables: Tables<Schema>, { secret, scope }: AuthConfig): Codes {
  const hashOf = (code: string): string => createHmac('sha256', secret).update(code).digest('hex')

  /** The shared secret, compared in constant time whatever the lengths are. */
  function isShared(code: string): boolean {
    return timingSafeEqual(Buffer.from(hashOf(code)), Buffer.from(hashOf(secret)))
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

    /** One transaction under the row of this user, so that many tries at once are counted as many. */
    async try({ userId, code, key }) {
      return tables.transaction(async (db) => {
        await db
          .insertInto('telegram_wrong')
          .values({ user_id: userId, tries: 0, since: tables.now, locked_until: 0 })
          .onConflict((held) => held.column('user_id').doNothing())
          .execute()
        const wrong = await db
          .selectFrom('telegram_wrong')
          .select(['tries', 'since', 'locked_until', tables.now.as('now')])
          .where('user_id', '=', userId)
          .$if(tables.type === 'postgres', (query) => query.forUpdate())
          .executeTakeFirstOrThrow()
        if (wrong.locked_until > wrong.now)
          return { outcome: 'locked', forMs: wrong.locked_until - wrong.now }

        const scopes = isShared(code) ? scope : await take(db)
        if (scopes !== null) {
          await db.deleteFrom('telegram_wrong').where('user_id', '=', userId).execute()
          return { outcome: 'right', scopes }
        }
        const isFresh = wrong.now - wrong.since > LOCK.withinMs
        const tries = (isFresh ? 0 : wrong.tries) + 1
        const isLocked = tries >= LOCK.tries
        await db
          .updateTable('telegram_wrong')
          .set({
            tries: isLocked ? 0 : tries,
            locked_until: isLocked ? wrong.now + LOCK.forMs : 0,
            ...(isFresh || isLocked ? { since: wrong.now } : {}),
          })
          .where('user_id', '=', userId)
          .execute()
        return isLocked
          ? { outcome: 'locked', forMs: LOCK.forMs }
          : { outcome: 'wrong', triesLeft: LOCK.tries - tries }
      })

      /** Unused, or used by this very update. */
      async function take(db: Pick<Tables<Schema>['db'], 'updateTable'>): Promise<string[] | null> {
        const row = await db
          .updateTable('telegram_code')
          .set({ used_at: tables.now, used_by: userId, used_key: key })
          .where('hash', '=', hashOf(code.trim().toUpperCase()))
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
