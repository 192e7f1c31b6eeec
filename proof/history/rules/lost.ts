/** Every job that somebody was told is safe is in the store at the end, and has ended. What was deleted on purpose is none of this rule's. */
import type { Entry } from '../entry.ts'
import type { Violation } from '../violation.ts'

const ENDED = new Set(['done', 'dead', 'cancelled'])

export function nothingLost(history: readonly Entry[]): Violation[] {
  const entry = history.findLastIndex((one) => one.what === 'look' && one.isLast)
  const look = history[entry]
  if (look?.what !== 'look') return []
  const acknowledged = new Set(history.flatMap((one) => (one.what === 'acknowledged' ? [one.job] : [])))
  const missing = [...acknowledged].filter((job) => !look.jobs.has(job))
  const open = [...look.jobs].filter(([, state]) => !ENDED.has(state))
  return [
    ...missing.map((job): Violation => ({
      rule: 'lost',
      told: `${job} was acknowledged and is not there at the end`,
      entry,
    })),
    ...open.map(([job, state]): Violation => ({
      rule: 'not ended',
      told: `${job} is still ${state} at the end`,
      entry,
    })),
  ]
}
