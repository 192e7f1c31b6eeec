/**
 * Debounced jobs: another enqueue with the key changes the job that waits. Once that job is due or has
 * started, the key is free.
 */
import { debouncedUntil, type NewJob } from '../../job/enqueue/new-job.ts'
import { findJob, HAS_STEPS, SCHEDULED } from '../job-row.ts'
import type { Work } from '../work.ts'
import { holdKeyUntil } from './dedupe.ts'
import { replaceTags } from './tags.ts'

// Each uses the primary key, after findJob under the same write lock.
const FIRST = `SELECT enqueued_at FROM jobmill_job WHERE pk = ?`
const CHANGE = `UPDATE jobmill_job SET payload = ?, metadata = ?, due_at = ? WHERE pk = ?`

/**
 * Gives the holder of the key the payload, metadata and tags of the new job. False if it no longer waits for
 * its first start: then the new job takes the key.
 */
export function debounceWaiting({ sql, now }: Work, holderId: string, job: NewJob): boolean {
  const holder = findJob(sql, holderId)
  if (holder === undefined || job.dedupe === null) return false
  const waits = holder.state === SCHEDULED && holder.records === 0
  if (!waits || (holder.flags & HAS_STEPS) !== 0) return false
  const first = sql(FIRST).get(holder.pk) as { readonly enqueued_at: number }
  const dueAt = debouncedUntil(job, first.enqueued_at, now)
  sql(CHANGE).run(job.payload, job.metadata, dueAt, holder.pk)
  replaceTags(sql, holder, job.tags)
  holdKeyUntil(sql, job.dedupe.key, holder.id, dueAt)
  return true
}
