/**
 * After somebody was told that a job is cancelled it changes nothing any more, until somebody has it begin again. A holder from whom the lease was taken is
 * beyond anybody's reach: what it still does, its token tells to be stale.
 */
import type { Entry } from '../entry.ts'
import type { Violation } from '../violation.ts'

export function cancelledStaysSo(history: readonly Entry[]): Violation[] {
  const cancelled = new Set<string>()
  const current = new Map<string, number>()
  const stale = new Set<string>()
  const found: Violation[] = []
  history.forEach((one, entry) => {
    if (one.what === 'cancelled') {
      cancelled.add(one.job)
    } else if (one.what === 'claimed') {
      // An operator had it begin again: otherwise there would be no lease.
      cancelled.delete(one.job)
      current.set(one.job, one.token)
    } else if (one.what === 'taken back') {
      stale.add(`${one.job} ${String(current.get(one.job))}`)
    } else if (one.what === 'effect' && cancelled.has(one.job) && !stale.has(`${one.job} ${one.token}`)) {
      found.push({
        rule: 'effect after cancel',
        told: `${one.job} changed something under ${one.token} after its cancel was confirmed`,
        entry,
      })
    }
  })
  return found
}
