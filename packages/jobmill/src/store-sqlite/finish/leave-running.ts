/** Transitions out of running and waiting that several operations share, and the removal of jobs. */
import { onCancelledJob } from '../../job/attempt/on-cancelled.ts'
import { holdKey } from '../enqueue/dedupe.ts'
import {
  CANCELLED,
  DONE,
  HAS_EVENTS,
  HAS_PERMITS,
  HAS_STEPS,
  type JobRow,
  READY,
  RUNNING,
  tagsIn,
} from '../job-row.ts'
import { enqueue } from '../enqueue/enqueue.ts'
import { dropAttempts } from './attempts.ts'
import { type ChildEnd, childEnded } from '../steps/child-ends.ts'
import { dropSteps } from '../steps/step-rows.ts'
import { leaveOrder } from '../enqueue/order-queue.ts'
import { removeTags } from '../enqueue/tags.ts'
import { freeHolder } from '../limits/permits.ts'
import type { Work } from '../work.ts'

// Each uses the primary key, after the row was read under the same write lock. The log was moved to the
// attempt, if there is one.
const END = `
  UPDATE jobmill_job SET state = ?, in_order_queue = 0, ended_at = ?, attempt = ?, crashes = ?, records = ?, log = NULL
  WHERE pk = ?`
// seq and ready_at stay: the job returns to its place.
const PUT_BACK = `UPDATE jobmill_job SET state = 1, attempt = ?, crashes = ?, records = ?, log = NULL WHERE pk = ?`
// Uses the primary key.
const DELETE = `DELETE FROM jobmill_job WHERE pk = ?`

export type Counters = Pick<JobRow, 'attempt' | 'crashes' | 'records'>

/** Counts the change of state, and releases the permits of a job that was running. */
export function leave(work: Work, job: JobRow, to: number): void {
  work.moves.move(job.queue_id, job.state, to)
  if (job.state === RUNNING && (job.flags & HAS_PERMITS) !== 0) freeHolder(work, job.id)
}

/**
 * Ends a job as dead or cancelled: frees the dedupe key, unless it stays held after every end, and passes the
 * order lock to the next job.
 */
export function endJob(
  work: Work,
  job: JobRow,
  to: number,
  { error, ...counters }: Counters & { readonly error: string | null },
): void {
  work.sql(END).run(to, work.now, counters.attempt, counters.crashes, counters.records, job.pk)
  leave(work, job, to)
  holdKey(work.sql, job, to, work.now)
  leaveOrder(work, job)
  childEnded(work, job, to, { error })
  if (to === CANCELLED) followCancel(work, job, error ?? '')
}

// Uses the primary key.
const FOLLOWS = `SELECT on_cancelled FROM jobmill_kind WHERE id = ?`
const LAST_TOKEN = `SELECT max(token) AS token FROM jobmill_attempt WHERE job_pk = ?`

/** Enqueues the job that runs `onCancelled`. The token of the last attempt makes it unique per cancel. */
function followCancel(work: Work, job: JobRow, reason: string): void {
  const { sql, names } = work
  const { pk, id, kind_id: kindId, queue_id: queueId } = job
  const kind = sql(FOLLOWS).get(kindId) as { readonly on_cancelled: number } | undefined
  if (kind?.on_cancelled !== 1) return
  // The attempt of a waiting job is already recorded.
  const { token } = job.state === RUNNING ? job : (sql(LAST_TOKEN).get(pk) as { readonly token: number })
  const [kindName, queue] = [names.kindName(kindId), names.queueName(queueId)]
  enqueue(work, [onCancelledJob({ id, kind: kindName, queue, reason, token })])
}

export function putBack(work: Work, job: JobRow, counters: Counters): void {
  work.sql(PUT_BACK).run(counters.attempt, counters.crashes, counters.records, job.pk)
  leave(work, job, READY)
}

export function refundAttempt(attempt: number): number {
  return Math.max(0, attempt - 1)
}

/** Removes a done job at once; only the hold on its dedupe key stays. */
export function forgetJob(work: Work, job: JobRow, end: ChildEnd): void {
  if ((job.flags & HAS_PERMITS) !== 0) freeHolder(work, job.id)
  removeJob(work, job)
  holdKey(work.sql, job, DONE, work.now)
  leaveOrder(work, job)
  childEnded(work, job, DONE, end)
}

export function removeJob(
  { sql, moves }: Work,
  job: Pick<JobRow, 'pk' | 'id' | 'queue_id' | 'state' | 'tags' | 'flags'>,
): void {
  sql(DELETE).run(job.pk)
  dropAttempts(sql, job.pk)
  if ((job.flags & (HAS_STEPS | HAS_EVENTS)) !== 0) dropSteps(sql, job.pk)
  removeTags(sql, job.id, tagsIn(job.tags))
  moves.move(job.queue_id, job.state, null)
}
