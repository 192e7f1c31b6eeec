/**
 * Records which updates of synchronous bots are being handled and which are done. Detects redeliveries, and
 * allows retries of failed updates.
 */
import { sql, type Tables, type Transaction } from 'jobmill-tables'
import type { Schema } from './steps.ts'

interface UpdateRef {
  readonly botId: number
  readonly updateId: number
}

/** An update that this process is handling. */
export interface ClaimedUpdate extends UpdateRef {
  /** Starts at 1. Attempts whose process crashed do not count. */
  readonly attempt: number
  /** How often a process crashed while handling it. */
  readonly crashes: number
  /** Identifies this claim. Writes of an earlier claim have no effect. */
  readonly token: number
}

type Claim =
  | { readonly outcome: 'new'; readonly claimed: ClaimedUpdate }
  | { readonly outcome: 'duplicate' }
  /** Another request is handling it. */
  | { readonly outcome: 'running' }

export interface UpdateClaims {
  /** `handled`: a redelivery is a duplicate. `running`: a process is handling it now. Null: neither. */
  readonly stateOf: (update: UpdateRef) => Promise<'handled' | 'running' | null>
  /** Whether any update of this bot is recorded. */
  readonly hasAny: (botId: number) => Promise<boolean>
  readonly claim: (update: UpdateRef) => Promise<Claim>
  /** Renews the claim. */
  readonly renew: (claimed: ClaimedUpdate) => Promise<void>
  /**
   * Runs in the transaction that writes the replies. Returns false if another attempt has taken over: then
   * write nothing.
   */
  readonly handled: (db: Transaction<Schema>, claimed: ClaimedUpdate) => Promise<boolean>
  /** Allows an immediate retry. `isSpent`: the attempt counts. */
  readonly failed: (claimed: ClaimedUpdate, isSpent: boolean) => Promise<void>
  /** Removes the claim, because the update was handled elsewhere. */
  readonly release: (claimed: ClaimedUpdate) => Promise<void>
  /** Deletes records that no redelivery can match any more, and returns how many. */
  readonly forget: () => Promise<number>
}

const BATCH = 500

/** `leaseMs`: how long a claim is valid without a renewal. */
export function updateClaims(
  tables: Tables<Schema>,
  { dedupeMs, leaseMs }: { readonly dedupeMs: number; readonly leaseMs: number },
): UpdateClaims {
  const { db } = tables
  const after = (ms: number) => sql<number>`${tables.now} + ${sql.lit(ms)}`
  return {
    async stateOf({ botId, updateId }) {
      const row = await db
        .selectFrom('telegram_update')
        .select('state')
        .where('bot_id', '=', botId)
        .where('update_id', '=', updateId)
        .where('until', '>', tables.now)
        .executeTakeFirst()
      return row === undefined || row.state === 'failed' ? null : row.state
    },
    async hasAny(botId) {
      const { rows } =
        await sql`SELECT 1 FROM ${tables.table('telegram_update')} WHERE bot_id = ${botId} LIMIT 1`.execute(
          db,
        )
      return rows.length > 0
    },
    /** A single statement decides: of concurrent requests for the same update, one gets the row. */
    async claim({ botId, updateId }) {
      const mine = await db
        .insertInto('telegram_update')
        .values({
          bot_id: botId,
          update_id: updateId,
          state: 'running',
          attempts: 1,
          crashes: 0,
          token: 1,
          until: after(leaseMs),
        })
        .onConflict((held) =>
          held
            .columns(['bot_id', 'update_id'])
            .doUpdateSet((is) => ({
              state: 'running',
              attempts: sql<number>`CASE ${is.ref('telegram_update.state')} WHEN 'handled' THEN 1
                WHEN 'running' THEN ${is.ref('telegram_update.attempts')} ELSE ${is.ref('telegram_update.attempts')} + 1 END`,
              crashes: sql<number>`CASE ${is.ref('telegram_update.state')} WHEN 'handled' THEN 0
                WHEN 'running' THEN ${is.ref('telegram_update.crashes')} + 1 ELSE ${is.ref('telegram_update.crashes')} END`,
              token: sql<number>`${is.ref('telegram_update.token')} + 1`,
              until: after(leaseMs),
            }))
            .where((is) =>
              is.or([
                is('telegram_update.state', '=', 'failed'),
                is('telegram_update.until', '<=', tables.now),
              ]),
            ),
        )
        .returning(['attempts as attempt', 'crashes', 'token'])
        .executeTakeFirst()
      if (mine !== undefined) return { outcome: 'new', claimed: { botId, updateId, ...mine } }
      const other = await db
        .selectFrom('telegram_update')
        .select('state')
        .where('bot_id', '=', botId)
        .where('update_id', '=', updateId)
        .executeTakeFirst()
      return { outcome: other?.state === 'handled' ? 'duplicate' : 'running' }
    },
    async renew(claimed) {
      await db
        .updateTable('telegram_update')
        .set({ until: after(leaseMs) })
        .where((is) => is.and(own(claimed)))
        .execute()
    },
    async handled(trx, claimed) {
      const row = await trx
        .updateTable('telegram_update')
        .set({ state: 'handled', until: after(dedupeMs) })
        .where((is) => is.and(own(claimed)))
        .returning('token')
        .executeTakeFirst()
      return row !== undefined
    },
    async failed(claimed, isSpent) {
      await db
        .updateTable('telegram_update')
        .set({ state: 'failed', until: after(dedupeMs), attempts: claimed.attempt - (isSpent ? 0 : 1) })
        .where((is) => is.and(own(claimed)))
        .execute()
    },
    async release(claimed) {
      await db
        .deleteFrom('telegram_update')
        .where((is) => is.and(own(claimed)))
        .execute()
    },
    /**
     * An unfinished update, whose process died and which Telegram stopped delivering, is deleted once
     * Telegram can no longer redeliver it.
     */
    async forget() {
      let gone = 0
      for (;;) {
        const { rows } = await sql<{ n: number }>`DELETE FROM ${tables.table('telegram_update')}
          WHERE (bot_id, update_id) IN (SELECT bot_id, update_id FROM ${tables.table('telegram_update')}
            WHERE until <= ${tables.now} AND until <= ${tables.now} - CASE state WHEN 'running' THEN ${sql.lit(dedupeMs)} ELSE 0 END
            ORDER BY until LIMIT ${sql.lit(BATCH)})
          RETURNING 1 AS n`.execute(db)
        gone += rows.length
        if (rows.length < BATCH) return gone
      }
    },
  }
}

/** Matches only while this claim is the current one. */
function own({ botId, updateId, token }: ClaimedUpdate) {
  return { bot_id: botId, update_id: updateId, state: 'running', token } as const
}
