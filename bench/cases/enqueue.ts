// a, b, c: how fast jobs are safe, one call after the other, with many single calls in flight, and by thousands.
import type { Case, Cell, Figure } from '../case.ts'
import { deliveries } from '../deliveries.ts'
import { measureUsage, type Usage } from '../measure/usage.ts'
import type { Queue } from '../system.ts'
import { loadSystem } from '../systems.ts'
import { fill } from './drain.ts'

/** `lanes` calls in flight at any time. */
export async function enqueueAll(queue: Queue, jobs: number, lanes: number): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < jobs) await queue.enqueue(next++)
  }
  await Promise.all(Array.from({ length: Math.min(lanes, jobs) }, lane))
}

/**
 * Drained afterwards, unmeasured: each job that was acknowledged has to be there once. By the best setting, since some take
 * hours with their default.
 */
async function checkDelivery(cell: Cell): Promise<void> {
  const best = await loadSystem(cell.system.name, cell.place.store, 'best')
  const queue = await best.open(cell.place, { keep: true })
  const delivered = deliveries(cell.jobs)
  try {
    await queue.work(delivered.ran)
  } catch (error) {
    return cell.note(`its workers do not run, so delivery was not checked: ${String(error)}`)
  }
  await delivered.all
  await queue.settled?.()
  await queue.stop()
  delivered.check()
}

function figuresOf(name: string, jobs: number, { seconds, client, server }: Usage): Figure[] {
  return [
    { case: name, unit: 'jobs/s', value: jobs / seconds },
    { case: `${name}-cpu`, unit: 'µs/job', value: (client + server) / jobs },
  ]
}

const LANES: Readonly<Record<string, number>> = { a: 1, b: 64 }

export const enqueueCase: Case = {
  names: ['a', 'b', 'c'],
  async run(cell) {
    const queue = await cell.open()
    const end = await measureUsage(cell)
    const lanes = LANES[cell.case]
    await (lanes === undefined ? fill(queue, cell.jobs) : enqueueAll(queue, cell.jobs, lanes))
    const usage = await end()
    await queue.stop()
    await checkDelivery(cell)
    return figuresOf(cell.case, cell.jobs, usage)
  },
}
