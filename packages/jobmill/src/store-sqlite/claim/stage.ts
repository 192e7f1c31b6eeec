/**
 * Stages due jobs: they become ready or join their order queue. Then each order queue with a free lock gives
 * it to its first job.
 */
import type { Staged } from '../../store/types/replies.ts'
import { NEVER_DUE } from '../../store/types/step.ts'
import type { JobRow } from '../job-row.ts'
import { giveOrderLock, makeDue } from '../enqueue/order-queue.ts'
import { NEXT_CHECK, stageGroups } from '../groups/stage-groups.ts'
import type { Look, Work } from '../work.ts'

// Reads the front of jobmill_job_due: only due entries, however many wait behind them. Jobs in an order queue
// are in another part of that index.
const DUE = `
  SELECT pk, queue_id, order_key, group_name, flags, state, due_at FROM jobmill_job INDEXED BY jobmill_job_due
  WHERE state = 0 AND in_order_queue = 0 AND due_at <= ? ORDER BY due_at, id LIMIT ?`
const NEXT_DUE = `
  SELECT due_at FROM jobmill_job INDEXED BY jobmill_job_due
  WHERE state = 0 AND in_order_queue = 0 AND due_at < ${NEVER_DUE} ORDER BY due_at LIMIT 1`
// One statement, because every idle heartbeat runs it.
const NEXT = `SELECT (${NEXT_DUE}) AS due_at, (${NEXT_CHECK}) AS check_at`

// Reads the front of jobmill_order_due_place: the longest waiting order queue comes first.
const ORDER_QUEUES = `SELECT queue_id, order_key FROM jobmill_order_due INDEXED BY jobmill_order_due_place ORDER BY place LIMIT ?`

type DueRow = Pick<JobRow, 'pk' | 'queue_id' | 'order_key' | 'group_name' | 'flags' | 'state' | 'due_at'>

export function stage(work: Work, limit: number): Staged {
  const queues = new Set<number>()
  let ready = 0
  const due = work.sql(DUE).all(work.now, limit) as DueRow[]
  for (const job of due) {
    if (!makeDue(work, job, job.due_at)) continue
    queues.add(job.queue_id)
    ready += 1
  }
  const orderQueues = work.sql(ORDER_QUEUES).all(limit) as { queue_id: number; order_key: string }[]
  for (const orderQueue of orderQueues) {
    if (!giveOrderLock(work, orderQueue.queue_id, orderQueue.order_key)) continue
    queues.add(orderQueue.queue_id)
    ready += 1
  }
  const groups = stageGroups(work, limit)
  for (const queue of groups.queues) queues.add(queue)
  return {
    ready: ready + groups.queues.length,
    more: due.length >= limit || orderQueues.length >= limit || groups.more,
    queues: [...queues].map((id) => work.names.queueName(id)).toSorted(),
  }
}

/** When `stage` has something to do: 0 for now, null if no job waits for it. */
export function stageInMs(look: Look): number | null {
  const { sql, now } = look
  if (sql(ORDER_QUEUES).get(1) !== undefined) return 0
  const { due_at: dueAt, check_at: checkAt } = sql(NEXT).get() as Record<'due_at' | 'check_at', number | null>
  const times = [dueAt, checkAt].filter((at) => at !== null)
  return times.length === 0 ? null : Math.max(0, Math.min(...times) - now)
}

/** Whether `stage` has something to do. */
export function mayStage(look: Look): boolean {
  return stageInMs(look) === 0
}
