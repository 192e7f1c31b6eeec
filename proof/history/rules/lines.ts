/**
 * Jobs of a queue with the same order key run one at a time: the next is leased when the one before has
 * ended.
 */
import type { Entry } from '../entry.ts'
import type { Violation } from '../violation.ts'

const ENDS = new Set(['done', 'dead', 'cancelled'])

export function oneAtATime(history: readonly Entry[]): Violation[] {
  const lineOf = new Map<string, string>()
  /** The started and unfinished job of each order queue. */
  const busy = new Map<string, string>()
  const found: Violation[] = []
  const ended = (job: string): void => {
    const line = lineOf.get(job) ?? ''
    if (busy.get(line) === job) busy.delete(line)
  }
  history.forEach((one, entry) => {
    if (one.what === 'written' && typeof one.orderKey === 'string') {
      lineOf.set(one.job, JSON.stringify([one.queue, one.orderKey]))
    } else if (one.what === 'claimed') {
      const line = lineOf.get(one.job)
      if (line === undefined) return
      const before = busy.get(line)
      if (before !== undefined && before !== one.job)
        found.push({
          rule: 'line',
          told: `${one.job} was leased before ${before} of its line had ended`,
          entry,
        })
      busy.set(line, one.job)
    } else if ((one.what === 'finished' && one.accepted) || one.what === 'taken back') {
      if (ENDS.has(one.state ?? '')) ended(one.job)
    } else if (one.what === 'withdrawn') {
      ended(one.job)
    }
  })
  return found
}
