/** How many jobs can run at once, in all living processes together. */
import type { Queue, Workers } from '../../../api/types/mill.ts'

/** What each process has for a queue whose number of workers nobody set. */
const WORKERS_UNSET = 10

export function workersOf(
  queues: readonly Queue[],
  { instances, slots }: Pick<Workers, 'instances' | 'slots'>,
): number {
  const settings = new Map(queues.map((queue) => [queue.name, queue]))
  const assigned = new Map(slots.map(({ instance, queue, workers }) => [`${instance} ${queue}`, workers]))
  let all = 0
  for (const { id, state, queues: served } of instances) {
    if (state !== 'alive') continue
    for (const name of served) {
      const { paused = false, workers = null } = settings.get(name) ?? {}
      if (paused) continue
      all += workers === null ? WORKERS_UNSET : (assigned.get(`${id} ${name}`) ?? 0)
    }
  }
  return all
}
