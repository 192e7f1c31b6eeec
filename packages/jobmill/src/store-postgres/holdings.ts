/** What a row of `running` says of rows in other tables. */
import { type Holding, holdingsOf } from '../store/holdings.ts'
import type { Row } from './connection.ts'
import { HAS_PERMIT, KEYED, ORDERED } from './fragments.ts'

/** Of `flags` and of `tries`, which counts the attempt that runs. `holdMs` is as the job keeps it. */
export function holdingsOfRow(row: Row, holdMs: number): Holding[] {
  const flags = Number(row['flags'])
  return holdingsOf({
    holdMs: (flags & KEYED) === 0 ? null : holdMs,
    isOrdered: (flags & ORDERED) !== 0,
    hasPermit: (flags & HAS_PERMIT) !== 0,
    records: Number(row['tries']) - 1,
  })
}

/** Of jobs whose keys are held on: how long, by id. */
export function holdsOf(rows: readonly Row[]): Readonly<Record<string, number>> {
  const told = rows.find((row) => row['holds'] !== null)?.['holds']
  return (typeof told === 'string' ? JSON.parse(told) : (told ?? {})) as Record<string, number>
}
