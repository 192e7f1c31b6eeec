// Cases a, b, c: how fast a system acknowledges jobs: one call after the other, many single calls in flight,
// and bulk calls of a thousand.
import type { Case, Cell } from '../case.ts'
import { deliveries } from '../cell/deliveries.ts'
import { measureUsage, usageFigures } from '../measure/usage.ts'
import type { Queue } from '../system.ts'
import { loadSystem } from '../systems.ts'
import { fill } from './drain.ts'

/**
 * Enqueues the jobs `first` to `end` − 1 with `lanes` calls in flight, or as many as time allows. Returns the
 * number after the last job.
 */
export async function enqueueAll(
  queue: Queue,
  { first, end, lanes, isOver = () => false }: Calls,
): Promise<number> {
  let next = first
  const lane = async (): Promise<void> => {
    while (next < end && !isOver()) await queue.enqueue(next++)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return next
}

interface Calls {
  readonly first: number
  readonly end: number
  readonly lanes: number
  readonly isOver?: () => boolean
}

/** Returns true once the given number of seconds has passed. */
export function alarm(seconds: number): () => boolean {
  const at = performance.now() + seconds * 1_000
  return () => performance.now() >= at
}

/**
 * Drains the queue afterwards, unmeasured, to check that each acknowledged job exists once. Uses the best
 * setting, since some systems would take hours with their default.
 */
async function checkDelivery(cell: Cell, jobs: number): Promise<void> {
  const best = await loadSystem(cell.system.name, cell.place.store, 'best')
  if (best.open === undefined) throw new Error(`${best.name} is measured only with steps`)
  const queue = await best.open(cell.place, { keep: true })
  const delivered = deliveries(jobs)
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

const LANES: Readonly<Record<string, number>> = { a: 1, b: 64 }

export const enqueueCase: Case = {
  names: ['a', 'b', 'c'],
  warmsUp: true,
  async run(cell) {
    const queue = await cell.open()
    const lanes = LANES[cell.case]
    const enqueue = (first: number, end: number, isOver?: () => boolean): Promise<number> =>
      lanes === undefined
        ? fill(queue, first, end, isOver)
        : enqueueAll(queue, { first, end, lanes, ...(isOver && { isOver }) })
    const warmed = await enqueue(0, Number.POSITIVE_INFINITY, alarm(cell.warmUpSeconds))
    const end = await measureUsage(cell)
    await enqueue(warmed, warmed + cell.jobs)
    const usage = await end()
    await queue.stop()
    await checkDelivery(cell, warmed + cell.jobs)
    return [
      { case: cell.case, unit: 'jobs/s', value: cell.jobs / usage.seconds },
      ...usageFigures(cell.case, cell.jobs, usage),
    ]
  },
}
