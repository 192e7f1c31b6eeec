/**
 * Tracks the version that each job needs: that of the definition under which it recorded its first step or
 * wait. 0 if that definition had none, and for jobs without steps.
 */
import type { Entry } from './entry.ts'
import { retentionTracker } from './retention-tracker.ts'

interface Needed {
  readonly version: number
  /** The attempt that recorded the first step. */
  readonly token: number
}

export interface VersionTracker {
  see(one: Entry): void
  needed(job: string): Needed | undefined
}

export function versionTracker(): VersionTracker {
  const needs = new Map<string, Needed>()
  /** The version of each attempt. */
  const versions = new Map<string, number>()
  const kept = retentionTracker()
  return {
    see(one) {
      // Retention deleted it with its steps, and a late call wrote it again.
      if (one.what === 'written' && kept.isOld(one.job, one.at)) needs.delete(one.job)
      kept.see(one)
      if (one.what === 'started' && one.version !== undefined)
        versions.set(`${one.job} ${one.token}`, one.version)
      if (one.what !== 'step recorded' && one.what !== 'step waits') return
      const { job, token } = one
      const version = versions.get(`${job} ${token}`)
      if (version !== undefined && !needs.has(job)) needs.set(job, { version, token })
    },
    needed: (job) => needs.get(job),
  }
}
