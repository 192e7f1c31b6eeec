/**
 * Within a queue, a kind and a priority, jobs that are ready when they are written are leased for the first time in the order in which they were written. (A lease is
 * for any number of them, in their order; kinds are apart because an instance takes only those it has a handler for.)
 */
import type { Entry, Written } from '../entry.ts'
import type { Violation } from '../violation.ts'

interface Lane {
  /** Written and not leased, in their order. */
  readonly waiting: Set<string>
}

export function orderKept(history: readonly Entry[]): Violation[] {
  const lanes = new Map<string, Lane>()
  const laneOfJob = new Map<string, Lane>()
  const found: Violation[] = []

  const laneFor = ({ queue, kind, priority }: Written): Lane => {
    const key = JSON.stringify([queue, kind, priority])
    const lane = lanes.get(key) ?? { waiting: new Set() }
    lanes.set(key, lane)
    return lane
  }

  history.forEach((one, entry) => {
    if (one.what === 'written' && one.isReady && !laneOfJob.has(one.job)) {
      const lane = laneFor(one)
      laneOfJob.set(one.job, lane)
      lane.waiting.add(one.job)
    } else if (one.what === 'claimed') {
      const waiting = laneOfJob.get(one.job)?.waiting
      const [first] = waiting ?? []
      if (waiting?.has(one.job) === true && first !== one.job)
        found.push({ rule: 'order', told: `${one.job} was leased before ${String(first)}`, entry })
      waiting?.delete(one.job)
    } else if (one.what === 'withdrawn') {
      laneOfJob.get(one.job)?.waiting.delete(one.job)
    }
  })
  return found
}
