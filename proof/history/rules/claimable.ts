/**
 * No job is leased that was never written, before it is due, from a paused queue, or to a quiet instance.
 */
import type { Entry, Written } from '../entry.ts'
import type { Violation } from '../violation.ts'

/** Store clocks are in whole milliseconds. */
const ROUNDING_MS = 1

export function onlyClaimable(history: readonly Entry[]): Violation[] {
  const written = new Map<string, Written>()
  /** For jobs that were never leased. */
  const dueAt = new Map<string, number>()
  const paused = new Set<string>()
  const quiet = new Set<string>()
  // An external recorder does not see writes.
  const seesWrites = history.some(({ what }) => what === 'written')
  const violations: Violation[] = []
  history.forEach((one, entry) => {
    const broken = (rule: Violation['rule'], message: string): void =>
      void violations.push({ rule, message, entry })
    if (one.what === 'written') {
      if (!written.has(one.job) && typeof one.dueAt === 'number') dueAt.set(one.job, one.dueAt)
      written.set(one.job, one)
    } else if (one.what === 'replaced' || one.what === 'hurried' || one.what === 'retried') {
      dueAt.delete(one.job)
    } else if (one.what === 'paused') {
      if (one.isPaused) paused.add(one.queue)
      else paused.delete(one.queue)
    } else if (one.what === 'quieted') {
      if (one.isQuiet) quiet.add(one.instance)
      else quiet.delete(one.instance)
    } else if (one.what === 'claimed') {
      if (quiet.has(one.instance)) broken('quiet', `${one.job} was leased to ${one.instance}, which is quiet`)
      const job = written.get(one.job)
      if (job === undefined && seesWrites) broken('unwritten', `${one.job} was leased, and was never written`)
      const early = (dueAt.get(one.job) ?? 0) - one.at
      if (early > ROUNDING_MS)
        broken('early', `${one.job} was leased ${early.toFixed(0)} ms before it was due`)
      dueAt.delete(one.job)
      if (job !== undefined && paused.has(job.queue))
        broken('paused', `${one.job} was leased from ${job.queue}, which is paused`)
    }
  })
  return violations
}
