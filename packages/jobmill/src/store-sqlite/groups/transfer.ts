/** Exports and imports the groups that an operator changed. */
import type { TransferredGroup } from '../../store/admin/transfer.ts'
import type { Look, Work } from '../work.ts'
import { needGroup } from './turns.ts'

// Reads all groups, in the order of their names.
const OUT = `
  SELECT q.name AS queue, g.name, g.weight, g.concurrency, g.rate, g.rate_per_ms AS ratePerMs, g.paused, g.changed_by AS by, g.changed_at AS at
  FROM jobmill_group AS g JOIN jobmill_queue AS q ON q.id = g.queue_id WHERE g.changed_at IS NOT NULL ORDER BY q.name, g.name`
const IN = `UPDATE jobmill_group SET weight = ?, concurrency = ?, rate = ?, rate_per_ms = ?, paused = ?, changed_by = ?, changed_at = ?
  WHERE id = ?`

export function groupsOut({ sql }: Look): TransferredGroup[] {
  const rows = sql(OUT).all() as (Omit<TransferredGroup, 'paused'> & { readonly paused: number })[]
  return rows.map(({ paused, ...row }) => ({ ...row, paused: paused === 1 }))
}

export function groupIn(work: Work, group: TransferredGroup): void {
  const { id } = needGroup(work, work.names.needQueue(group.queue), group.name)
  const { weight, concurrency, rate, ratePerMs, paused, by, at } = group
  work.sql(IN).run(weight, concurrency, rate, ratePerMs, Number(paused), by, at, id)
}
