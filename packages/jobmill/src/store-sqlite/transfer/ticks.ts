/** Exports and imports served ticks, so that the target database does not serve them again. */
import type { TransferredTick, Page } from '../../store/admin/transfer.ts'
import type { Look, Work } from '../work.ts'

// Both by the primary key, the first in its order.
const OUT = `
  SELECT schedule, at, outcome, job, served_at AS servedAt FROM jobmill_tick
  WHERE (schedule, at) > (?, ?) ORDER BY schedule, at LIMIT ?`
const IN = `INSERT OR IGNORE INTO jobmill_tick (schedule, at, outcome, job, served_at) VALUES (?, ?, ?, ?, ?)`

export function ticksOut({ sql }: Look, { after, limit }: Page<'ticks'>): TransferredTick[] {
  return sql(OUT).all(after?.schedule ?? '', after?.at ?? 0, limit) as TransferredTick[]
}

export function ticksIn({ sql }: Work, ticks: readonly TransferredTick[]): number {
  const isNew = ({ schedule, at, outcome, job, servedAt }: TransferredTick): boolean =>
    sql(IN).run(schedule, at, outcome, job, servedAt).changes !== 0
  return ticks.filter(isNew).length
}
