/** When a new job is due: at an explicit instant, or after a delay from the database's now. */
import type { NewJob } from '../../job/new-job.ts'

export function dueTime(job: NewJob, now: number): number {
  return job.dueAt ?? now + job.delayMs
}
