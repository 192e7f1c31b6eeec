/** The ways out of running, and of waiting for good, that several verbs share. */
import { holdKey } from './dedupe.ts'
import { type JobRow, READY, RUNNING } from './job-row.ts'
import { leaveOrder } from './order-queue.ts'
import { freeHolder } from './permits.ts'
import type { Work } from './work.ts'

// Each by primary key, after the row was read under the same write lock. The log is with the attempt, where there is one.
const END = `
  UPDATE jobmill_job SET state = ?, in_order_queue = 0, ended_at = ?, attempt = ?, crashes = ?, records = ?, log = NULL
  WHERE pk = ?`
// seq and ready_at stay: the job is back where it stood.
const PUT_BACK = `UPDATE jobmill_job SET state = 1, attempt = ?, crashes = ?, records = ?, log = NULL WHERE pk = ?`

export type Counters = Pick<JobRow, 'attempt' | 'crashes' | 'records'>

/** Whatever ends an attempt comes by here: the permits of the job go with it. */
export function leave(work: Work, job: JobRow, to: number): void {
  work.moves.move(job.queue_id, job.state, to)
  if (job.state === RUNNING && job.permits === 1) freeHolder(work, job.id)
}

/** Dead or cancelled: the dedupe key is free at once unless it is held however the job ended, and the turn goes to the next in line. */
export function endJob(work: Work, job: JobRow, to: number, counters: Counters): void {
  work.sql(END).run(to, work.now, counters.attempt, counters.crashes, counters.records, job.pk)
  leave(work, job, to)
  holdKey(work.sql, job, to, work.now)
  leaveOrder(work, job)
}

export function putBack(work: Work, job: JobRow, counters: Counters): void {
  work.sql(PUT_BACK).run(counters.attempt, counters.crashes, counters.records, job.pk)
  leave(work, job, READY)
}

export function refunded(attempt: number): number {
  return Math.max(0, attempt - 1)
}
