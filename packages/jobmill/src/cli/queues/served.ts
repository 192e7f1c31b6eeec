/** Which queues somebody works on, told from the processes that live. */
import type { InstanceRecord } from '../../store/instance.ts'
import type { QueueCounts } from '../../store/queue-record.ts'

export function servedQueues(instances: readonly InstanceRecord[]): ReadonlySet<string> {
  return new Set(instances.filter(({ state }) => state === 'alive').flatMap(({ queues }) => queues))
}

/** Something waits in it, and nobody takes anything from it. An empty queue keeps nobody waiting. */
export function hasNoWorker({ ready }: Pick<QueueCounts, 'ready'>, isServed: boolean): boolean {
  return ready > 0 && !isServed
}
