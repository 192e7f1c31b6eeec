/**
 * Order keys: at most one job of a key holds its order lock; its other due jobs wait in the order queue.
 * `jobmill_order_due` contains exactly the order queues that have a first job and a free lock. Every change
 * of a queue or a lock calls `orderQueueChanged` or `orderQueueJoined`, which cost a few seeks. So `stage`
 * finds its work directly, and the length of an order queue does not matter.
 */
import { type JobRow, READY, SCHEDULED } from '../job-row.ts'
import type { Look, Work } from '../work.ts'

// All three use the primary key.
const ORDER_LOCK = `SELECT job_pk FROM jobmill_order_lock WHERE queue_id = ? AND order_key = ?`
const TAKE_ORDER_LOCK = `INSERT INTO jobmill_order_lock (queue_id, order_key, job_pk) VALUES (?, ?, ?)`
const FREE_ORDER_LOCK = `DELETE FROM jobmill_order_lock WHERE queue_id = ? AND order_key = ? AND job_pk = ?`

// The first entry of the order queue in jobmill_job_order.
const HEAD = `
  SELECT pk, seq FROM jobmill_job INDEXED BY jobmill_job_order
  WHERE queue_id = ? AND order_key = ? AND state = 0 AND in_order_queue = 1 ORDER BY seq LIMIT 1`
const ORDER_DUE = `INSERT OR REPLACE INTO jobmill_order_due (queue_id, order_key, place) VALUES (?, ?, ?)`
// For a job that joins at the end: it is the first only if the order queue is not known to be due.
const MAYBE_DUE = `
  INSERT OR IGNORE INTO jobmill_order_due (queue_id, order_key, place)
  SELECT ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM jobmill_order_lock WHERE queue_id = ? AND order_key = ?)`
const ORDER_NOT_DUE = `DELETE FROM jobmill_order_due WHERE queue_id = ? AND order_key = ?`

const JOIN = `UPDATE jobmill_job SET state = 0, in_order_queue = 1, seq = ?, due_at = ? WHERE pk = ?`
const MAKE_READY = `UPDATE jobmill_job SET state = 1, in_order_queue = 0, seq = ?, ready_at = ? WHERE pk = ?`

type Ordered = Pick<JobRow, 'pk' | 'queue_id' | 'order_key'>
type Waiting = Ordered & Pick<JobRow, 'state'>

/** Whether a job may become ready: it has no order key, or holds the order lock. */
export function mayRun({ sql }: Work, job: Ordered): boolean {
  if (job.order_key === null) return true
  const lock = sql(ORDER_LOCK).get(job.queue_id, job.order_key) as { job_pk: number } | undefined
  return lock?.job_pk === job.pk
}

/** Updates `jobmill_order_due` for one order queue. */
export function orderQueueChanged({ sql, moves }: Work, queueId: number, orderKey: string): void {
  const free = sql(ORDER_LOCK).get(queueId, orderKey) === undefined
  const head = free ? (sql(HEAD).get(queueId, orderKey) as { seq: number } | undefined) : undefined
  if (head === undefined) {
    sql(ORDER_NOT_DUE).run(queueId, orderKey)
    return
  }
  sql(ORDER_DUE).run(queueId, orderKey, head.seq)
  moves.notify(queueId)
}

/** A job joined the end of an order queue, at `place`. One statement, whatever its length. */
export function orderQueueJoined(work: Work, queueId: number, orderKey: string, place: number): void {
  const { sql, moves } = work
  const { changes } = sql(MAYBE_DUE).run(queueId, orderKey, place, queueId, orderKey)
  if (changes !== 0) moves.notify(queueId)
}

/** The job ended or was deleted, so the order lock passes to the next one. */
export function leaveOrder(work: Work, job: Ordered): void {
  if (job.order_key === null) return
  work.sql(FREE_ORDER_LOCK).run(job.queue_id, job.order_key, job.pk)
  orderQueueChanged(work, job.queue_id, job.order_key)
}

/** Puts a job at the end of its order queue. */
export function joinOrderQueue(
  work: Work,
  job: Waiting,
  dueAt: number,
  place: number = work.counters.take('seq'),
): void {
  work.sql(JOIN).run(place, dueAt, job.pk)
  work.moves.move(job.queue_id, job.state, SCHEDULED)
  if (job.order_key !== null) orderQueueJoined(work, job.queue_id, job.order_key, place)
}

/** Makes a job ready, behind the others of its priority. */
export function makeReady(work: Work, job: Waiting, place: number = work.counters.take('seq')): void {
  work.sql(MAKE_READY).run(place, work.now, job.pk)
  work.moves.move(job.queue_id, job.state, READY)
}

// Uses jobmill_job_id, and the primary key for the holder.
const WAITS = `SELECT pk, queue_id, order_key FROM jobmill_job WHERE id = ? AND state = 0 AND in_order_queue = 1`
const ID = `SELECT id FROM jobmill_job WHERE pk = ?`

/** The job that blocks a job in an order queue: the holder of the order lock, or the first of the queue. */
export function blocker({ sql }: Look, id: string): string | null {
  const job = sql(WAITS).get(id) as (Ordered & { readonly order_key: string }) | undefined
  if (job === undefined) return null
  const lock = sql(ORDER_LOCK).get(job.queue_id, job.order_key) as { job_pk: number } | undefined
  const head = sql(HEAD).get(job.queue_id, job.order_key) as { pk: number } | undefined
  const first = lock?.job_pk ?? head?.pk ?? job.pk
  return first === job.pk ? null : (sql(ID).get(first) as { id: string }).id
}

/** Gives a free order lock to the first job of its queue. */
export function giveOrderLock(work: Work, queueId: number, orderKey: string): boolean {
  const { sql } = work
  const head = sql(HEAD).get(queueId, orderKey) as { pk: number } | undefined
  const free = sql(ORDER_LOCK).get(queueId, orderKey) === undefined
  sql(ORDER_NOT_DUE).run(queueId, orderKey)
  if (head === undefined || !free) return false
  sql(TAKE_ORDER_LOCK).run(queueId, orderKey, head.pk)
  makeReady(work, { pk: head.pk, queue_id: queueId, order_key: orderKey, state: SCHEDULED })
  return true
}
