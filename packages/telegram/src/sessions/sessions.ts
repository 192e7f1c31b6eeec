/**
 * Sessions by user and bot, with an expiry by the database clock. A session names a bot by slug and id, so
 * that a new bot under an old slug is not opened by old sessions.
 */
import { sql, type Tables } from 'jobmill-tables'
import type { Schema } from './steps.ts'

/** The scope of a session for every bot. */
export const EVERY_BOT = '*'

export type Sessions = ReturnType<typeof sessions>

/** `bots` are the bots that a scope can name by slug. */
export function sessions(
  tables: Tables<Schema>,
  bots: readonly { readonly slug: string; readonly id: number }[],
) {
  const { db } = tables
  /** The stored form of a scope. The space is unambiguous because slugs have none. */
  const storedScope = (scope: string): string => {
    const bot = bots.find(({ slug }) => slug === scope)
    return bot === undefined ? scope : `${scope} ${bot.id}`
  }
  return {
    /** False without a user. Rejects if the state is unknown; the caller must then refuse access. */
    isOpen: async (userId: number | null, slug: string): Promise<boolean> => {
      if (userId === null) return false
      const row = await db
        .selectFrom('telegram_session')
        .select('scope')
        .where('user_id', '=', userId)
        .where('scope', 'in', [storedScope(slug), EVERY_BOT])
        .where('expires_at', '>', tables.now)
        .executeTakeFirst()
      return row !== undefined
    },
    open: async (userId: number, scopes: readonly string[], ttlMs: number): Promise<void> => {
      const until = sql<number>`${tables.now} + ${sql.lit(ttlMs)}`
      await db
        .insertInto('telegram_session')
        .values(
          scopes.map((scope) => ({
            user_id: userId,
            scope: storedScope(scope),
            begun_at: tables.now,
            expires_at: until,
          })),
        )
        .onConflict((held) =>
          held.columns(['user_id', 'scope']).doUpdateSet((row) => ({
            begun_at: row.ref('excluded.begun_at'),
            expires_at: row.ref('excluded.expires_at'),
          })),
        )
        .execute()
    },
    /** Returns false if there was no session. */
    close: async (userId: number): Promise<boolean> => {
      const gone = await db
        .deleteFrom('telegram_session')
        .where('user_id', '=', userId)
        .returning('scope')
        .execute()
      return gone.length > 0
    },
    of: async (userId: number) => {
      const rows = await db
        .selectFrom('telegram_session')
        .select(['scope', sql<number>`expires_at - ${tables.now}`.as('remainingMs')])
        .where('user_id', '=', userId)
        .where('expires_at', '>', tables.now)
        .orderBy('scope')
        .execute()
      return rows.map(({ scope, remainingMs }) => ({ scope: scope.split(' ')[0] ?? scope, remainingMs }))
    },
  }
}
