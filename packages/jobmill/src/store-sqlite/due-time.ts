/** When a new job is due: at the instant the user named, or so long after the database's now. */
import type { NewJob } from '../job/new-job.ts'

export function dueTime(job: NewJob, now: number): number {
  return job.dueAt ?? now + job.delayMs
}
