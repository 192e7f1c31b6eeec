/**
 * Acknowledged jobs are in every later look, and accepted ends stay, also after a restart of the store.
 * Exception: the retention is over and a late call wrote the job again.
 */
import type { JobState } from 'jobmill'
import type { Entry } from '../entry.ts'
import { retentionTracker } from '../retention-tracker.ts'
import type { Violation } from '../violation.ts'

export function nothingForgotten(history: readonly Entry[]): Violation[] {
  const acknowledged = new Set<string>()
  const ended = new Map<string, JobState>()
  const kept = retentionTracker()
  let restarts = 0
  return history.flatMap((one, entry) => {
    if (one.what === 'written' && kept.isOld(one.job, one.at)) ended.delete(one.job)
    kept.see(one)
    if (one.what === 'acknowledged') acknowledged.add(one.job)
    if (one.what === 'restarted') restarts += 1
    if (one.what === 'retried') ended.delete(one.job)
    if (one.what === 'finished' && one.accepted && (one.state === 'done' || one.state === 'cancelled'))
      ended.set(one.job, one.state)
    // The rule for lost jobs checks the last look.
    if (one.what !== 'look') return []
    const after = restarts === 0 ? '' : `, after ${restarts} restart${restarts === 1 ? '' : 's'} of the store`
    const gone = one.isLast ? [] : [...acknowledged].filter((job) => !one.jobs.has(job))
    const undone = [...ended].filter(([job, state]) => one.jobs.has(job) && one.jobs.get(job) !== state)
    return [
      ...gone.map((job): Violation => ({
        rule: 'forgotten',
        message: `${job} was acknowledged and is not there${after}`,
        entry,
      })),
      ...undone.map(([job, state]): Violation => ({
        rule: 'forgotten',
        message: `${job} was accepted as ${state} and is ${String(one.jobs.get(job))}${after}`,
        entry,
      })),
    ]
  })
}
