/**
 * Order keys: at most one job of a key holds its order lock; its other due jobs wait in the order queue.
 * `jobmill_order_due` contains exactly the order queues that have a first job and a free lock. Every change
 * of a queue or a lock calls `orderQueueChanged` or `orderQueueJoined`, which cost a few seeks. So `stage`
 * finds its work directly, and the length of an order queue does not matter.
 */
import { checkGroup, leaveGroup, needGroup, placeIn, turnOf } from '../groups/turns.ts'
import { HAS_PASSED, IN_GROUP, IN_ORDER_QUEUE, type JobRow, READY, SCHEDULED } from '../job-row.ts'
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

const JOIN = `UPDATE jobmill_job SET state = 0, in_order_queue = ?, seq = ?, due_at = ? WHERE pk = ?`
const MAKE_READY = `UPDATE jobmill_job SET state = 1, in_order_queue = 0, seq = ?, ready_at = ? WHERE pk = ?`

type Ordered = Pick<JobRow, 'pk' | 'queue_id' | 'order_key'>
type Waiting = Ordered & Pick<JobRow, 'state' | 'group_name' | 'flags'>

/** Whether a job has no order key, or holds the order lock. */
function isFirst({ sql }: Work, job: Ordered): boolean {
  if (job.order_key === null) return true
  const lock = sql(ORDER_LOCK).get(job.queue_id, job.order_key) as { job_pk: number } | undefined
  return lock?.job_pk === job.pk
}

/**
 * A due job becomes ready, behind the others of its priority, or waits at the end of its order queue, or in
 * its group. Returns whether it is ready.
 */
export function makeDue(work: Work, job: Waiting, dueAt: number, seq?: number): boolean {
  const place = seq ?? work.counters.take('seq')
  if (!isFirst(work, job)) {
    join(work, job, IN_ORDER_QUEUE, dueAt, place)
    if (job.order_key !== null) orderQueueJoined(work, job.queue_id, job.order_key, place)
    return false
  }
  const turn = turnOf(work, job.queue_id, job.group_name)
  if (turn.waits && (job.flags & HAS_PASSED) === 0) {
    join(work, job, IN_GROUP, dueAt, place)
    groupJoined(work, job.queue_id, job.group_name)
    return false
  }
  work.sql(MAKE_READY).run(placeIn(turn, place), work.now, job.pk)
  work.moves.move(job.queue_id, job.state, READY)
  return true
}

/** A job joined its group: stage promotes it when the group has room. */
export function groupJoined(work: Work, queueId: number, name: string | null): void {
  if (name !== null) checkGroup(work, queueId, needGroup(work, queueId, name).id)
}

function join(work: Work, job: Waiting, where: number, dueAt: number, place: number): void {
  work.sql(JOIN).run(where, place, dueAt, job.pk)
  work.moves.move(job.queue_id, job.state, SCHEDULED)
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

/** The job ended or was deleted, so its order lock and the slot of its group pass to the next job. */
export function leaveOrder(work: Work, job: Ordered & Pick<JobRow, 'group_name' | 'flags'>): void {
  leaveGroup(work, job)
  if (job.order_key === null) return
  work.sql(FREE_ORDER_LOCK).run(job.queue_id, job.order_key, job.pk)
  orderQueueChanged(work, job.queue_id, job.order_key)
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

const ROW = `SELECT pk, queue_id, order_key, group_name, state, flags, due_at FROM jobmill_job WHERE pk = ?`

/**
 * Gives a free order lock to the first job of its queue. Returns whether the job is ready: it may also wait
 * for its group.
 */
export function giveOrderLock(work: Work, queueId: number, orderKey: string): boolean {
  const { sql } = work
  const head = sql(HEAD).get(queueId, orderKey) as { pk: number } | undefined
  const free = sql(ORDER_LOCK).get(queueId, orderKey) === undefined
  sql(ORDER_NOT_DUE).run(queueId, orderKey)
  if (head === undefined || !free) return false
  sql(TAKE_ORDER_LOCK).run(queueId, orderKey, head.pk)
  const { due_at: dueAt, ...job } = sql(ROW).get(head.pk) as Waiting & Pick<JobRow, 'due_at'>
  return makeDue(work, job, dueAt)
}
