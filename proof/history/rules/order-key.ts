/**
 * Jobs of a queue with the same order key run one at a time: the next is leased when the previous one has
 * ended.
 */
import type { Entry } from '../entry.ts'
import type { Violation } from '../violation.ts'

const ENDS = new Set(['done', 'dead', 'cancelled'])

export function oneAtATimePerOrderKey(history: readonly Entry[]): Violation[] {
  const orderQueueOf = new Map<string, string>()
  /** The started and unfinished job of each order queue. */
  const busy = new Map<string, string>()
  const violations: Violation[] = []
  const ended = (job: string): void => {
    const orderQueue = orderQueueOf.get(job) ?? ''
    if (busy.get(orderQueue) === job) busy.delete(orderQueue)
  }
  history.forEach((one, entry) => {
    if (one.what === 'written' && typeof one.orderKey === 'string') {
      orderQueueOf.set(one.job, JSON.stringify([one.queue, one.orderKey]))
    } else if (one.what === 'claimed') {
      const orderQueue = orderQueueOf.get(one.job)
      if (orderQueue === undefined) return
      const before = busy.get(orderQueue)
      if (before !== undefined && before !== one.job)
        violations.push({
          rule: 'order key',
          message: `${one.job} was leased before ${before} with the same order key had ended`,
          entry,
        })
      busy.set(orderQueue, one.job)
    } else if ((one.what === 'finished' && one.accepted) || one.what === 'taken back') {
      if (ENDS.has(one.state ?? '')) ended(one.job)
    } else if (one.what === 'withdrawn') {
      ended(one.job)
    }
  })
  return violations
}
