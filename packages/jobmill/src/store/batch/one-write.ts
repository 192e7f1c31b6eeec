/** Calls of enqueue that one statement can write. */
import type { NewJob } from '../../job/enqueue/new-job.ts'

/**
 * Whether no job of the call may replace another one, and no dedupe key occurs twice. Only such a call may
 * dispatch jobs directly.
 */
export function isOneWrite(jobs: readonly Pick<NewJob, 'dedupe'>[]): boolean {
  const keyed = jobs.flatMap(({ dedupe }) => dedupe ?? [])
  return (
    keyed.length === 0 ||
    (keyed.every(({ onConflict }) => onConflict === 'keep') &&
      new Set(keyed.map(({ key }) => key)).size === keyed.length)
  )
}
