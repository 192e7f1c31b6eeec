/**
 * Replaces a waiting job that holds the dedupe key of a new one: it gets the payload, the due time and the
 * enqueue time of the new job.
 */
import type { NewJob } from '../../job/new-job.ts'
import { dueTime } from './due-time.ts'
import { findJob, type JobRow, READY, SCHEDULED } from '../job-row.ts'
import { joinOrderQueue, orderQueueChanged, makeReady, mayRun } from './order-queue.ts'
import type { Work } from '../work.ts'

// By primary key, after findJob under the same write lock.
const PAYLOAD = `UPDATE jobmill_job SET payload = ?, due_at = ?, enqueued_at = ? WHERE pk = ?`
const LATER = `UPDATE jobmill_job SET state = 0, in_order_queue = 0 WHERE pk = ?`

/**
 * `place` is the sequence number of the new job. False when the holder is running, has ended, is gone, or has
 * another kind: the payload must not reach the handler of another kind.
 */
export function replaceWaiting(work: Work, holderId: string, job: NewJob, place: number): boolean {
  const holder = findJob(work.sql, holderId)
  if (holder === undefined || (holder.state !== SCHEDULED && holder.state !== READY)) return false
  if (work.names.kindName(holder.kind_id) !== job.kind) return false
  const dueAt = dueTime(job, work.now)
  work.sql(PAYLOAD).run(job.payload, dueAt, work.now, holder.pk)
  if (dueAt <= work.now) bringForward(work, holder, dueAt, place)
  else putOff(work, holder)
  return true
}

/** Due now. A job that is ready or in its order queue keeps its place. */
function bringForward(work: Work, holder: JobRow, dueAt: number, place: number): void {
  if (holder.state === READY || holder.in_order_queue === 1) return
  if (mayRun(work, holder)) makeReady(work, holder, place)
  else joinOrderQueue(work, holder, dueAt, place)
}

/** Due later. The job leaves its order queue, but keeps an order lock that it holds. */
function putOff(work: Work, holder: JobRow): void {
  work.sql(LATER).run(holder.pk)
  work.moves.move(holder.queue_id, holder.state, SCHEDULED)
  if (holder.order_key !== null && holder.in_order_queue === 1)
    orderQueueChanged(work, holder.queue_id, holder.order_key)
}
