/** How many jobs of a queue can run at once. */
import { DEFAULTS } from '../../job/defaults.ts'
import type { Slot } from '../../store/types/duty.ts'

interface Serving {
  /** The configured total. Null for an automatic queue, which has the default in each process. */
  readonly total: number | null
  /** The ids of the live instances that serve the queue. */
  readonly instances: readonly string[]
  /** The shares of the total. */
  readonly slots: readonly Slot[]
}

/** The assigned shares of the total, or the total before it is split. */
export function queueWorkers({ total, instances, slots }: Serving): number {
  if (total === null) return instances.length * DEFAULTS.workers
  const assigned = slots.filter(({ instance }) => instances.includes(instance))
  return assigned.length === 0 ? total : assigned.reduce((sum, { workers }) => sum + workers, 0)
}
