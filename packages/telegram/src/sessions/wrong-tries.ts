/** Counts wrong codes, per sender and for all senders together. */
import type { Tables, Transaction } from 'jobmill-tables'
import type { Schema } from './steps.ts'

export const LOCK = { tries: 5, withinMs: 15 * 60_000, forMs: 15 * 60_000 }
/** The limit for all senders together. */
export const LOCKOUT = { tries: 50, withinMs: 15 * 60_000, forMs: 15 * 60_000 }
/** The row that counts all senders together, under a user id that does not exist. */
export const EVERYBODY = 0

type Db = Transaction<Schema>

export function wrongTries(tables: Tables<Schema>) {
  /** Creates the row if it does not exist. */
  async function rowOf(db: Db, userId: number) {
    await db
      .insertInto('telegram_wrong')
      .values({ user_id: userId, tries: 0, since: tables.now, locked_until: 0 })
      .onConflict((held) => held.column('user_id').doNothing())
      .execute()
    return db
      .selectFrom('telegram_wrong')
      .select(['tries', 'since', 'locked_until', tables.now.as('now')])
      .where('user_id', '=', userId)
      .$if(tables.type === 'postgres', (query) => query.forUpdate())
      .executeTakeFirstOrThrow()
  }

  return {
    /**
     * Locks the user's row until the end of the transaction. `leftMs`: the remaining time of a lockout; 0 or
     * less if there is none.
     */
    async stateOf(db: Db, userId: number) {
      const { tries, locked_until, now } = await rowOf(db, userId)
      return { tries, leftMs: locked_until - now }
    },
    /** Whether the code of this update has not been counted yet. */
    async isNew(db: Db, key: string): Promise<boolean> {
      const row = await db
        .insertInto('telegram_try')
        .values({ key, at: tables.now })
        .onConflict((held) => held.column('key').doNothing())
        .returning('key')
        .executeTakeFirst()
      return row !== undefined
    },
    async count(db: Db, userId: number, { tries: most, withinMs, forMs }: typeof LOCK) {
      const { tries: before, since, now } = await rowOf(db, userId)
      const isFresh = now - since > withinMs
      const tries = (isFresh ? 0 : before) + 1
      const isLocked = tries >= most
      await db
        .updateTable('telegram_wrong')
        .set({
          tries: isLocked ? 0 : tries,
          locked_until: isLocked ? now + forMs : 0,
          ...(isFresh || isLocked ? { since: now } : {}),
        })
        .where('user_id', '=', userId)
        .execute()
      return { tries, isLocked }
    },
    async forget(db: Db, userId: number): Promise<void> {
      await db.deleteFrom('telegram_wrong').where('user_id', '=', userId).execute()
    },
  }
}
