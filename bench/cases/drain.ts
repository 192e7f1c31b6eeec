// Case d: one process drains a queue that is full when its workers start. Other cases use `fill` and `drain`,
// which returns the resources that it used.
import type { Case, Cell, Figure } from '../case.ts'
import { deliveries } from '../cell/deliveries.ts'
import { diskFigures, readDisk } from '../measure/disk.ts'
import { measureUsage, type Usage, usageFigures } from '../measure/usage.ts'
import type { Queue } from '../system.ts'

const BULK = 1_000
const never = (): boolean => false
/** Bulk calls in flight at a time, the same for every system. */
const IN_FLIGHT = 2

/**
 * Enqueues the jobs `first` to `end` − 1 in thousands, or as many as time allows. Returns the number after
 * the last job.
 */
export async function fill(
  queue: Pick<Queue, 'enqueueMany'>,
  first: number,
  end: number,
  isOver = never,
): Promise<number> {
  let next = first
  const lane = async (): Promise<void> => {
    while (next < end && !isOver()) {
      const from = next
      next = Math.min(end, from + BULK)
      await queue.enqueueMany(from, next - from)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
  return next
}

/**
 * Fills the queue through a second handle, so that the drain starts like a process that finds a backlog. Then
 * runs the vacuum that autovacuum would run within a minute, so that no drain depends on its timing. Returns
 * what the fill used.
 */
export async function fillApart(cell: Cell, how = { keep: true }): Promise<Usage> {
  const filler = await cell.open(how)
  const end = await measureUsage(cell)
  await fill(filler, 0, cell.jobs)
  const usage = await end()
  await filler.stop()
  if (cell.place.store === 'postgres') await (await cell.admin()).query('VACUUM ANALYZE')
  return usage
}

/** The log that the enqueues of a fill wrote. */
export function fillFigures(name: string, jobs: number, { wal }: Usage): Figure[] {
  return wal === undefined ? [] : [{ case: `${name}-wal-enqueue`, unit: 'bytes/job', value: wal / jobs }]
}

/**
 * Measures from before the workers start until the last outcome is written. For systems that do not report
 * outcomes, it measures until the last handler call.
 */
export async function drain(cell: Cell, queue: Queue, jobs: number): Promise<Usage> {
  const delivered = deliveries(jobs)
  const end = await measureUsage(cell)
  await queue.work(delivered.ran)
  await delivered.all
  await queue.settled?.()
  const usage = await end()
  if (queue.settled === undefined)
    cell.note('timed to the last handler call: the system does not report outcomes')
  await queue.stop()
  // Check now: a second run could still have happened until here.
  delivered.check()
  return usage
}

/** The rate, and the cost of one job. `name` is the name of the case. */
export function drainFigures(name: string, jobs: number, usage: Usage): Figure[] {
  return [
    { case: name, unit: 'jobs/s', value: jobs / usage.seconds },
    ...usageFigures(name, jobs, usage),
    { case: `${name}-noise`, unit: 'cores', value: usage.noise },
  ]
}

export const drainCase: Case = {
  names: ['d', 'd-nothing-kept'],
  async run(cell) {
    const { case: name, jobs } = cell
    const keep = name === 'd'
    // The queue already has the jobs of the warm-up.
    const before = await readDisk(cell, { vacuum: true })
    const filled = await fillApart(cell, { keep })
    const queue = await cell.open({ keep })
    const usage = await drain(cell, queue, jobs)
    const after = await readDisk(cell)
    const vacuumed = cell.place.store === 'postgres' ? await readDisk(cell, { vacuum: true }) : {}
    return [
      ...drainFigures(name, jobs, usage),
      ...fillFigures(name, jobs, filled),
      ...diskFigures(name, jobs, before, after),
      ...diskFigures(name, jobs, before, vacuumed, '-vacuumed'),
    ]
  },
}
