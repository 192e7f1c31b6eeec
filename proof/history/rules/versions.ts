/**
 * P14, P17: a job that recorded a step under one version of its definition is never started under an earlier
 * one. An attempt that was leased before may still start, but its lease is over.
 */
import type { Entry } from '../entry.ts'
import { versionTracker } from '../version-tracker.ts'
import type { Violation } from '../violation.ts'

export function neverInEarlierVersion(history: readonly Entry[]): Violation[] {
  const versions = versionTracker()
  return history.flatMap((one, entry) => {
    versions.see(one)
    if (one.what !== 'started' || one.version === undefined) return []
    const needed = versions.needed(one.job)
    if (needed === undefined || one.token <= needed.token || one.version >= needed.version) return []
    const message = `${one.job} was started in version ${one.version} under ${one.token}, and its first step was recorded in version ${needed.version}`
    return [{ rule: 'earlier version', message, entry } satisfies Violation]
  })
}
