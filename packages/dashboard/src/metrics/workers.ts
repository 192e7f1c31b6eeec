/** Counts how many jobs can run at once. */
import type { Instance, Queue, Slot, Workers } from '../api/types.ts'

/** Whether a process claims jobs: it is alive, and was not asked to be quiet or to stop. */
export function isClaiming({ state, requested }: Pick<Instance, 'state' | 'requested'>): boolean {
  return state === 'alive' && requested === null
}

/** Workers per process for a queue without a configured number. */
const WORKERS_UNSET = 10

/**
 * In one process. A process with its own capacity may run fewer, because capacity only weighs its share of
 * the workers.
 */
export function workersOn(
  { id, queues: served }: Instance,
  queues: readonly Queue[],
  slots: readonly Slot[],
): number {
  const settings = new Map(queues.map((queue) => [queue.name, queue]))
  const assigned = new Map(
    slots.filter(({ instance }) => instance === id).map((slot) => [slot.queue, slot.workers]),
  )
  let all = 0
  for (const name of served) {
    const { paused = false, workers = null } = settings.get(name) ?? {}
    if (!paused) all += workers === null ? WORKERS_UNSET : (assigned.get(name) ?? 0)
  }
  return all
}

/** The number of workers in all processes that claim jobs together. */
export function workersOf(
  queues: readonly Queue[],
  { instances, slots }: Pick<Workers, 'instances' | 'slots'>,
): number {
  return instances.filter(isClaiming).reduce((sum, instance) => sum + workersOn(instance, queues, slots), 0)
}
