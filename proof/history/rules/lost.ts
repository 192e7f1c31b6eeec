/**
 * Every acknowledged job is in the store at the end and has ended, unless it was done for longer than its
 * retention. Deliberately deleted jobs are not covered.
 */
import type { Entry } from '../entry.ts'
import { retentionTracker } from '../retention-tracker.ts'
import type { Violation } from '../violation.ts'

const ENDED = new Set(['done', 'dead', 'cancelled'])

export function nothingLost(history: readonly Entry[]): Violation[] {
  const entry = history.findLastIndex((one) => one.what === 'look' && one.isLast)
  const look = history[entry]
  if (look?.what !== 'look') return []
  const acknowledged = new Set(history.flatMap((one) => (one.what === 'acknowledged' ? [one.job] : [])))
  const kept = retentionTracker()
  for (const one of history) kept.see(one)
  const missing = [...acknowledged].filter((job) => !look.jobs.has(job) && !kept.isOld(job, look.at))
  const open = [...look.jobs].filter(([, state]) => !ENDED.has(state))
  return [
    ...missing.map((job): Violation => ({
      rule: 'lost',
      message: `${job} was acknowledged and is not there at the end`,
      entry,
    })),
    ...open.map(([job, state]): Violation => ({
      rule: 'not ended',
      message: `${job} is still ${state} at the end`,
      entry,
    })),
  ]
}
