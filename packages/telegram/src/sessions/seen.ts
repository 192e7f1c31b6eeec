/** Updates of synchronous bots: which of them are being handled, and which were. What repeats is recognised, and what failed may be tried again. */
import { sql, type Tables, type Transaction } from 'jobmill-tables'
import type { Schema } from './steps.ts'

interface UpdateRef {
  readonly botId: number
  readonly updateId: number
}

/** An update that this process handles now. */
export interface Claimed extends UpdateRef {
  /** 1 at the first try. One whose process died does not count. */
  readonly attempt: number
  /** How often a process died of it, or with it. */
  readonly crashes: number
  /** Of this claim: another one has another, and what an earlier one writes changes nothing. */
  readonly token: number
}

type Claim =
  | { readonly outcome: 'new'; readonly claimed: Claimed }
  | { readonly outcome: 'duplicate' }
  /** Another request has it at the moment. */
  | { readonly outcome: 'running' }

export interface Seen {
  /** `handled`: a repeat of it is a duplicate. `running`: somebody handles it now. Null: neither, as far as Telegram's waiting goes. */
  readonly stateOf: (update: UpdateRef) => Promise<'handled' | 'running' | null>
  /** Whether any update of this bot is remembered here. */
  readonly hasAny: (botId: number) => Promise<boolean>
  readonly claim: (update: UpdateRef) => Promise<Claim>
  /** It is still being handled. */
  readonly renew: (claimed: Claimed) => Promise<void>
  /** In the transaction that writes the replies. False when another try has it now: nothing may be written then. */
  readonly handled: (db: Transaction<Schema>, claimed: Claimed) => Promise<boolean>
  /** It may be tried again at once. `isSpent`: the try counts. */
  readonly failed: (claimed: Claimed, isSpent: boolean) => Promise<void>
  /** As if it had never been claimed: somebody else has it for good. */
  readonly release: (claimed: Claimed) => Promise<void>
  /** Deletes what no repeat can come of; says how many. */
  readonly forget: () => Promise<number>
}

const BATCH = 500

/** `leaseMs`: how long a process that says nothing has an update. */
export function seen(
  tables: Tables<Schema>,
  { dedupeMs, leaseMs }: { readonly dedupeMs: number; readonly leaseMs: number },
): Seen {
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
    /** One statement decides: of several requests with the same update one gets a row back. */
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
    /** What was never ended, because its process died and Telegram gave up, goes once nothing that Telegram keeps can be a repeat of it. */
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

/** Only while it is this very try that has it. */
function own({ botId, updateId, token }: Claimed) {
  return { bot_id: botId, update_id: updateId, state: 'running', token } as const
}
