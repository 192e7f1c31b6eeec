/** What a row of `running` says of rows in other tables. */
import { type Holding, holdingsOf } from '../store/holdings.ts'
import type { Row } from './connection.ts'
import { HAS_PERMIT, ORDERED } from './fragments.ts'

/** Of `flags`, `tries` with the attempt that runs, and `hold_ms`, which is null without a key. */
export function holdingsOfRow(row: Row): Holding[] {
  const flags = Number(row['flags'])
  const holdMs = row['hold_ms'] ?? null
  return holdingsOf({
    holdMs: holdMs === null ? null : Number(holdMs),
    isOrdered: (flags & ORDERED) !== 0,
    hasPermit: (flags & HAS_PERMIT) !== 0,
    records: Number(row['tries']) - 1,
  })
}
