/** Derives from a job row which rows it has in other tables. */
import { type Holding, holdingsOf } from '../store/holdings.ts'
import type { JobRow } from './job-row.ts'

export type HoldingRow = Pick<JobRow, 'dedupe_key' | 'hold_ms' | 'order_key' | 'permits' | 'records'>

export function holdingsOfRow(row: HoldingRow): Holding[] {
  return holdingsOf({
    holdMs: row.dedupe_key === null ? null : row.hold_ms,
    isOrdered: row.order_key !== null,
    hasPermit: row.permits === 1,
    records: row.records,
  })
}
