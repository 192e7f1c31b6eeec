/** What the gateway itself cleans up: sessions and codes that are over, updates that cannot come again. */
import type { OwnDuty } from 'jobmill'
import { sql, type Tables } from 'jobmill-tables'
import type { Begun } from './sessions/begun.ts'
import type { Seen } from './sessions/seen.ts'
import type { Schema } from './sessions/steps.ts'

export interface UpkeepTools {
  readonly tables: Tables<Schema>
  readonly seen: Seen
  readonly begun: Begun
  readonly dedupeMs: number
}

export function upkeepDuty({ tables, seen, begun, dedupeMs }: UpkeepTools): OwnDuty {
  return {
    name: 'telegram',
    every: '5m',
    async run() {
      const { db } = tables
      const over = await db
        .deleteFrom('telegram_session')
        .where('expires_at', '<=', tables.now)
        .returning('scope')
        .execute()
      const codes = await db
        .deleteFrom('telegram_code')
        .where('expires_at', '<=', tables.now)
        .returning('hash')
        .execute()
      // A repeat of an update comes no later than that.
      const before = sql<number>`${tables.now} - ${sql.lit(dedupeMs)}`
      await db.deleteFrom('telegram_try').where('at', '<', before).execute()
      await db
        .deleteFrom('telegram_wrong')
        .where('since', '<', before)
        .where('locked_until', '<=', tables.now)
        .execute()
      return {
        sessions: over.length,
        codes: codes.length,
        updates: await seen.forget(),
        replies: await begun.forget(dedupeMs),
      }
    },
  }
}
