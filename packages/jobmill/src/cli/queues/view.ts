/** Combines the settings, counts and workers of each queue. */
import type { Mill } from '../../runtime/mill.ts'
import type { QueueCounts, QueueRecord, UnservedKind } from '../../store/types/queue-record.ts'
import type { Cell, Painted } from '../output/table.ts'
import { countText, lasting, remainingText, optionText } from '../output/wording.ts'
import { hasNoWorker, servedQueues } from './served.ts'

export interface QueueView extends QueueRecord {
  readonly counts: Omit<QueueCounts, 'queue'>
  /** Whether a live instance serves the queue. */
  readonly isServed: boolean
  /** Kinds with ready jobs that no live instance runs from this queue. */
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

/** The note below the table: no worker serves the queue, or no worker runs these kinds. */
export function unservedText({ name, counts, isServed, unservedKinds }: QueueView): string | null {
  if (hasNoWorker(counts, isServed))
    return `${name}: no worker serves this queue (${countText(counts.ready, 'ready job')})`
  if (unservedKinds.length === 0) return null
  const kinds = unservedKinds.map(({ kind, jobs }) => `${countText(jobs, 'job')} of kind ${kind}`)
  return `${name}: no worker for ${kinds.join(', ')}`
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
  'retention done/cancelled/dead',
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
    queue.backoffEnabled ? `${optionText(queue.backoffBaseMs)} to ${optionText(queue.backoffMaxMs)}` : 'off',
    [
      retentionText(queue.retainDoneMs, queue.keepDone),
      retentionText(queue.retainCancelledMs, queue.keepCancelled),
      retentionText(queue.retainDeadMs, queue.keepDead),
    ].join('/'),
    limit,
  ]
}

function retentionText(ms: number | null, most: number | null): string {
  return most === null ? optionText(ms) : `${optionText(ms)},${most}`
}

/** Why jobs of the queue are not claimed. A single kind without a worker does not count. */
function stateOf({ paused, coolingMs, counts, isServed }: QueueView): Painted {
  if (paused) return { text: 'paused', style: 'yellow' }
  if (coolingMs > 0) return { text: `cooling for ${remainingText(coolingMs)}`, style: 'yellow' }
  if (hasNoWorker(counts, isServed)) return { text: 'no worker', style: 'red' }
  return { text: 'open', style: 'green' }
}
