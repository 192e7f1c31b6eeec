/** Queues with everything that is known of them, put together from what the read side tells. */
import type { Mill } from '../../runtime/mill.ts'
import type { QueueCounts, QueueRecord, UnservedKind } from '../../store/queue-record.ts'
import type { Cell, Painted } from '../table.ts'
import { counted, lasting, left, typed } from '../wording.ts'
import { hasNoWorker, servedQueues } from './served.ts'

export interface QueueView extends QueueRecord {
  readonly counts: Omit<QueueCounts, 'queue'>
  /** Whether a living process takes anything from it. */
  readonly isServed: boolean
  /** Kinds that wait although no living process takes them from this queue. */
  readonly unservedKinds: readonly Omit<UnservedKind, 'queue'>[]
}

const EMPTY = { scheduled: 0, ready: 0, running: 0, done: 0, dead: 0, cancelled: 0, oldestReadyMs: null }

export async function queueViews(mill: Mill): Promise<QueueView[]> {
  const [queues, counts, unservedKinds, instances] = await Promise.all([
    mill.queues(),
    mill.counts(),
    mill.unservedKinds(),
    mill.instances(),
  ])
  const served = servedQueues(instances)
  return queues.map((queue) => {
    const { queue: _, ...own } = counts.find((one) => one.queue === queue.name) ?? { queue: '', ...EMPTY }
    return {
      ...queue,
      counts: own,
      isServed: served.has(queue.name),
      unservedKinds: unservedKinds.flatMap(({ queue: name, kind, jobs }) =>
        name === queue.name ? [{ kind, jobs }] : [],
      ),
    }
  })
}

/** The line under the table: nobody serves the queue, or nobody has these kinds. */
export function unservedText({ name, counts, isServed, unservedKinds }: QueueView): string | null {
  if (hasNoWorker(counts, isServed))
    return `${name}: no living process serves this queue, and ${counted(counts.ready, 'job')} of it ${counts.ready === 1 ? 'waits' : 'wait'}`
  if (unservedKinds.length === 0) return null
  const kinds = unservedKinds.map(({ kind, jobs }) => `${counted(jobs, 'job')} of the kind ${kind}`)
  return `${name}: no living process takes ${kinds.join(', ')}`
}

export const QUEUE_HEADS = [
  'queue',
  'state',
  'ready',
  'running',
  'scheduled',
  'done',
  'dead',
  'cancelled',
  'oldest',
  'workers',
  'backoff',
  'kept done/cancelled/dead',
  'limit',
]

export function queueRow(queue: QueueView): Cell[] {
  const { name, counts, workers, limit } = queue
  const { ready, running, scheduled, done, dead, cancelled, oldestReadyMs } = counts
  return [
    name,
    stateOf(queue),
    ready,
    running,
    scheduled,
    done,
    dead,
    cancelled,
    oldestReadyMs === null ? null : lasting(oldestReadyMs),
    workers ?? 'unset',
    queue.backoffEnabled ? `${typed(queue.backoffBaseMs)} to ${typed(queue.backoffMaxMs)}` : 'off',
    [
      kept(queue.retainDoneMs, queue.keepDone),
      kept(queue.retainCancelledMs, queue.keepCancelled),
      kept(queue.retainDeadMs, queue.keepDead),
    ].join('/'),
    limit,
  ]
}

function kept(ms: number | null, most: number | null): string {
  return most === null ? typed(ms) : `${typed(ms)},${most}`
}

/** What keeps its jobs from being claimed. A kind that nobody takes is no matter of the whole queue. */
function stateOf({ paused, coolingMs, counts, isServed }: QueueView): Painted {
  if (paused) return { text: 'paused', style: 'yellow' }
  if (coolingMs > 0) return { text: `cooling for ${left(coolingMs)}`, style: 'yellow' }
  if (hasNoWorker(counts, isServed)) return { text: 'no worker', style: 'red' }
  return { text: 'open', style: 'green' }
}
