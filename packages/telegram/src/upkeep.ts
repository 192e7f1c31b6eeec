/** What the gateway itself cleans up: sessions and codes that are over, updates that cannot come again. */
import type { OwnDuty } from 'jobmill'
import type { Tables } from 'jobmill-tables'
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
      return {
        sessions: over.length,
        codes: codes.length,
        updates: await seen.forget(),
        replies: await begun.forget(dedupeMs),
      }
    },
  }
}
