/**
 * P3: each cancel that ended a job whose kind has `onCancelled` has one follow-up job, and no other cancel
 * has one. For each version of a kind, the last instance that registered for the first time decides.
 */
import type { Entry } from '../entry.ts'
import { versionTracker } from '../version-tracker.ts'
import type { Violation } from '../violation.ts'

export function cancelsFollowed(history: readonly Entry[]): Violation[] {
  const versions = versionTracker()
  const kinds = new Map<string, string>()
  const isFollowed = new Map<string, boolean>()
  /** How many follow-ups each job must have. */
  const due = new Map<string, number>()

  function storedKind(job: string): string {
    const [kind, version] = [kinds.get(job) ?? '', versions.needed(job)?.version ?? 0]
    return version === 0 ? kind : `${kind}@${version}`
  }

  return history.flatMap((one, entry) => {
    versions.see(one)
    if (one.what === 'written') kinds.set(one.job, one.kind)
    if (one.what === 'registered')
      for (const kind of one.kinds) isFollowed.set(kind, one.followed.includes(kind.split('@')[0] ?? ''))
    if (one.what === 'ended by cancel' && isFollowed.get(storedKind(one.job)) === true)
      due.set(one.job, (due.get(one.job) ?? 0) + 1)
    if (one.what !== 'look' || !one.isLast || one.followUps === undefined) return []
    const counts = new Map<string, number>()
    for (const job of one.followUps.values()) counts.set(job, (counts.get(job) ?? 0) + 1)
    return [...new Set([...due.keys(), ...counts.keys()])].flatMap((job) => {
      const [wanted, count] = [due.get(job) ?? 0, counts.get(job) ?? 0]
      if (wanted === count) return []
      const rule = count < wanted ? 'follow-up lost' : 'follow-up twice'
      const message = `${job} was cancelled ${wanted} times with onCancelled, and has ${count} follow-ups`
      return [{ rule, message, entry } satisfies Violation]
    })
  })
}
