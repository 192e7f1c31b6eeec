/** Counts how many jobs can run at once. */
import type { Instance, Queue, Slot, Workers } from '../api/types.ts'

/** Whether a process claims jobs: it is alive, and was not asked to be quiet or to stop. */
export function isClaiming({ state, requested }: Pick<Instance, 'state' | 'requested'>): boolean {
  return state === 'alive' && requested === null
}

/** Workers per process for a queue without a configured number. */
const WORKERS_UNSET = 10

type Sizes = readonly Pick<Queue, 'name' | 'workers' | 'paused'>[]

/**
 * How many jobs can run at once in one process. A process with its own capacity may run fewer, because
 * capacity only weighs its share of the workers. Null until the queues are known and their workers are split:
 * a leader does that within seconds after a process starts.
 */
export function workersOn(
  { id, queues: served }: Pick<Instance, 'id' | 'queues'>,
  queues: Sizes | undefined,
  slots: readonly Slot[],
): number | null {
  if (queues === undefined) return null
  const sizes = new Map(queues.map((queue) => [queue.name, queue]))
  const assigned = new Map(
    slots.filter(({ instance }) => instance === id).map((slot) => [slot.queue, slot.workers]),
  )
  let all = 0
  for (const name of served) {
    const { paused = false, workers = null } = sizes.get(name) ?? {}
    const share = workers === null ? WORKERS_UNSET : assigned.get(name)
    if (share === undefined) return null
    if (!paused) all += share
  }
  return all
}

/**
 * The number of workers in all processes that claim jobs together. The total of a queue counts until it is
 * split. Null until the queues are known.
 */
export function workersOf(
  queues: Sizes | undefined,
  { instances, slots }: Pick<Workers, 'instances' | 'slots'>,
): number | null {
  if (queues === undefined) return null
  const claiming = instances.filter(isClaiming)
  return queues.reduce((sum, { name, workers, paused }) => {
    const serving = claiming.filter((one) => one.queues.includes(name)).map(({ id }) => id)
    if (paused || serving.length === 0) return sum
    if (workers === null) return sum + serving.length * WORKERS_UNSET
    const shares = slots.filter(({ queue, instance }) => queue === name && serving.includes(instance))
    return sum + (shares.length === 0 ? workers : shares.reduce((all, share) => all + share.workers, 0))
  }, 0)
}
