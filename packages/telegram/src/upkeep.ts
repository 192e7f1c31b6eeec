/** Cleans up the gateway's tables: expired sessions and codes, and records of replies. */
import type { OwnDuty } from 'jobmill'
import { sql } from 'jobmill-tables'
import type { Base } from './inside.ts'
import type { Schema } from './sessions/steps.ts'

const EVERY_MS = 5 * 60_000
/** The maximum number of rows per DELETE, so that other writers are not blocked. */
const BATCH = 500

export function upkeepDuty({ tables, replies }: Pick<Base, 'tables' | 'replies'>, dedupeMs: number): OwnDuty {
  return { name: 'telegram', every: EVERY_MS, run: cleanUp }

  async function cleanUp() {
    const { now } = tables
    // Telegram does not redeliver an update after this time.
    const before = sql<number>`${now} - ${sql.lit(dedupeMs)}`
    await inBatches('telegram_try', ['key'], sql`at < ${before}`)
    await inBatches('telegram_wrong', ['user_id'], sql`since < ${before} AND locked_until <= ${now}`)
    return {
      sessions: await inBatches('telegram_session', ['user_id', 'scope'], sql`expires_at <= ${now}`),
      codes: await inBatches('telegram_code', ['hash'], sql`expires_at <= ${now}`),
      replies: await replies.forget(dedupeMs),
    }
  }

  /**
   * Returns the number of deleted rows. Each condition starts with an indexed column. The DELETE checks it
   * again, because a row may have been renewed since.
   */
  async function inBatches(
    name: keyof Schema,
    key: readonly string[],
    isOver: ReturnType<typeof sql>,
  ): Promise<number> {
    const [table, columns] = [tables.table(name), sql.join(key.map((column) => sql.id(column)))]
    let gone = 0
    for (;;) {
      const { rows } = await sql`DELETE FROM ${table}
        WHERE (${columns}) IN (SELECT ${columns} FROM ${table} WHERE ${isOver} LIMIT ${sql.lit(BATCH)}) AND ${isOver}
        RETURNING 1 AS n`.execute(tables.db)
      gone += rows.length
      if (rows.length < BATCH) return gone
    }
  }
}
