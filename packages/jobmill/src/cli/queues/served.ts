/** Determines which queues are served by a live instance. */
import type { InstanceRecord } from '../../store/types/instance.ts'
import type { QueueCounts } from '../../store/types/queue-record.ts'

export function servedQueues(instances: readonly InstanceRecord[]): ReadonlySet<string> {
  return new Set(instances.filter(({ state }) => state === 'alive').flatMap(({ queues }) => queues))
}

/** True when jobs are ready and no worker serves the queue. An empty queue needs no worker. */
export function hasNoWorker({ ready }: Pick<QueueCounts, 'ready'>, isServed: boolean): boolean {
  return ready > 0 && !isServed
}
