/** Prints a history: all entries of the jobs, limits and schedules with violations. */
import type { Entry } from '../history/entry.ts'
import type { Simulated } from './simulate.ts'

export function historyText({ seed, history, violations, troubles }: Simulated): string {
  const named = violations.flatMap(({ entry, message }) => [
    subjectOf(history[entry]),
    ...(message.match(/[0-9a-f-]{36}/g) ?? []),
  ])
  const subjects = new Set(named.filter((name) => name !== undefined))
  const lines = history.flatMap((one) => {
    const { at, what, ...rest } = one
    const subject = subjectOf(one)
    if (what === 'look' || subject === undefined || !subjects.has(subject)) return []
    return [`${at.toFixed(1).padStart(10)}  ${what.padEnd(12)} ${JSON.stringify(rest)}`]
  })
  return [
    `seed ${seed}: ${JSON.stringify(troubles)}`,
    ...violations.map(({ rule, message }) => `${rule}: ${message}`),
    ...lines,
  ].join('\n')
}

function subjectOf(entry: Entry | undefined): string | undefined {
  if (entry === undefined) return undefined
  if ('job' in entry) return entry.job
  if ('limit' in entry) return entry.limit
  if ('holder' in entry) return entry.holder
  return 'schedule' in entry ? entry.schedule : undefined
}
