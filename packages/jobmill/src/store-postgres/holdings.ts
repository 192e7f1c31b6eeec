/** Derives a job's rows in other tables from its row in `running`. */
import { type Holding, holdingsOf } from '../store/holdings.ts'
import type { Row } from './connection.ts'
import { HAS_PERMIT, KEYED, ORDERED } from './fragments.ts'

/** Uses `flags` and `tries`, which includes the running attempt. `holdMs` has the stored form. */
export function holdingsOfRow(row: Row, holdMs: number): Holding[] {
  const flags = Number(row['flags'])
  return holdingsOf({
    holdMs: (flags & KEYED) === 0 ? null : holdMs,
    isOrdered: (flags & ORDERED) !== 0,
    hasPermit: (flags & HAS_PERMIT) !== 0,
    records: Number(row['tries']) - 1,
  })
}

/** The hold times of dedupe keys, by job id. */
export function holdsOf(rows: readonly Row[]): Readonly<Record<string, number>> {
  const holds = rows.find((row) => row['holds'] !== null)?.['holds']
  return (typeof holds === 'string' ? JSON.parse(holds) : (holds ?? {})) as Record<string, number>
}
