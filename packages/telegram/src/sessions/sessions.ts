/**
 * Who may use the bots that ask for it: sessions by user and bot, which end by themselves. The database's clock decides. A bot is known by its slug and its id:
 * another one that gets an old slug is not opened by old sessions.
 */
import { sql, type Tables } from 'jobmill-tables'
import type { Schema } from './steps.ts'

/** The scope of a session that opens every bot. */
export const EVERY_BOT = '*'

interface Session {
  readonly scope: string
  readonly remainingMs: number
}

export interface Sessions {
  /** Rejects when it cannot be known: who asks must refuse then. */
  readonly isOpen: (userId: number, slug: string) => Promise<boolean>
  readonly open: (userId: number, scopes: readonly string[], ttlMs: number) => Promise<void>
  /** False when there was none. */
  readonly close: (userId: number) => Promise<boolean>
  readonly of: (userId: number) => Promise<Session[]>
}

/** `bots` are those that a scope can name, by their slugs. */
export function sessions(
  tables: Tables<Schema>,
  bots: readonly { readonly slug: string; readonly id: number }[],
): Sessions {
  const { db } = tables
  /** As it is kept. No slug has a space in it. */
  const kept = (scope: string): string => {
    const bot = bots.find(({ slug }) => slug === scope)
    return bot === undefined ? scope : `${scope} ${bot.id}`
  }
  return {
    async isOpen(userId, slug) {
      const row = await db
        .selectFrom('telegram_session')
        .select('scope')
        .where('user_id', '=', userId)
        .where('scope', 'in', [kept(slug), EVERY_BOT])
        .where('expires_at', '>', tables.now)
        .executeTakeFirst()
      return row !== undefined
    },
    async open(userId, scopes, ttlMs) {
      const until = sql<number>`${tables.now} + ${sql.lit(ttlMs)}`
      await db
        .insertInto('telegram_session')
        .values(
          scopes.map((scope) => ({
            user_id: userId,
            scope: kept(scope),
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
    async close(userId) {
      const gone = await db
        .deleteFrom('telegram_session')
        .where('user_id', '=', userId)
        .returning('scope')
        .execute()
      return gone.length > 0
    },
    async of(userId) {
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
