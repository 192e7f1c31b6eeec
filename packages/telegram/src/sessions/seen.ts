/** Updates of synchronous bots: which of them are being handled, and which were. What repeats is recognised, and what failed may be tried again. */
import { sql, type Tables, type Transaction } from 'jobmill-tables'
import type { Schema } from './steps.ts'

interface UpdateRef {
  readonly botId: number
  readonly updateId: number
}

/** An update that this process handles now. */
export interface Claimed extends UpdateRef {
  /** Which try it is; another one has another number, and what an earlier one writes changes nothing. */
  readonly attempt: number
}

type Claim =
  | { readonly outcome: 'new'; readonly claimed: Claimed }
  | { readonly outcome: 'duplicate' }
  /** Another request has it at the moment. */
  | { readonly outcome: 'running' }

export interface Seen {
  readonly claim: (update: UpdateRef) => Promise<Claim>
  /** It is still being handled. */
  readonly renew: (claimed: Claimed) => Promise<void>
  /** In the transaction that writes the replies. False when another try has it now: nothing may be written then. */
  readonly handled: (db: Transaction<Schema>, claimed: Claimed) => Promise<boolean>
  /** It may be tried again at once. `isSpent`: the try counts. */
  readonly failed: (claimed: Claimed, isSpent: boolean) => Promise<void>
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
    /** One statement decides: of several requests with the same update one gets a row back. */
    async claim({ botId, updateId }) {
      const mine = await db
        .insertInto('telegram_update')
        .values({
          bot_id: botId,
          update_id: updateId,
          state: 'running',
          attempts: 1,
          until: after(leaseMs),
        })
        .onConflict((held) =>
          held
            .columns(['bot_id', 'update_id'])
            .doUpdateSet((is) => ({
              state: 'running',
              attempts: sql<number>`CASE WHEN ${is.ref('telegram_update.state')} = 'handled' THEN 1
                ELSE ${is.ref('telegram_update.attempts')} + 1 END`,
              until: after(leaseMs),
            }))
            .where((is) =>
              is.or([
                is('telegram_update.state', '=', 'failed'),
                is('telegram_update.until', '<=', tables.now),
              ]),
            ),
        )
        .returning('attempts')
        .executeTakeFirst()
      if (mine !== undefined) return { outcome: 'new', claimed: { botId, updateId, attempt: mine.attempts } }
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
        .returning('attempts')
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
    async forget() {
      let gone = 0
      for (;;) {
        const { rows } = await sql<{ n: number }>`DELETE FROM ${tables.table('telegram_update')}
          WHERE (bot_id, update_id) IN (SELECT bot_id, update_id FROM ${tables.table('telegram_update')}
            WHERE until <= ${tables.now} AND state <> 'running' ORDER BY until LIMIT ${sql.lit(BATCH)})
          RETURNING 1 AS n`.execute(db)
        gone += rows.length
        if (rows.length < BATCH) return gone
      }
    },
  }
}

/** Only while it is this very try that has it. */
function own({ botId, updateId, attempt }: Claimed) {
  return { bot_id: botId, update_id: updateId, state: 'running', attempts: attempt } as const
}
