// d: a queue that is full when the workers start is drained by one process. Also what a drain is to other cases: `fill`,
// then `drain`, which answers with what it used.
import type { Case, Cell, Figure } from '../case.ts'
import { deliveries } from '../deliveries.ts'
import { measureUsage, type Usage } from '../measure/usage.ts'
import type { Queue } from '../system.ts'

const BULK = 1_000
const never = (): boolean => false
/** Bulk calls on their way at once, for every system alike. */
const IN_FLIGHT = 2

/** Puts the jobs `first` to `end` − 1 into the queue, by thousands, or as many of them as there is time for. Returns how far it came. */
export async function fill(queue: Queue, first: number, end: number, isOver = never): Promise<number> {
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
 * Fills it by another handle, so that a drain begins as a process that finds its work waiting; and has done what autovacuum
 * does within a minute, so that no drain depends on when that comes by.
 */
export async function fillApart(cell: Cell, how = { keep: true }): Promise<void> {
  const filler = await cell.open(how)
  await fill(filler, 0, cell.jobs)
  await filler.stop()
  if (cell.place.store === 'postgres') await (await cell.admin()).query('VACUUM ANALYZE')
}

/** From before the workers start until the last outcome is written, or the last handler called where that is all to be seen. */
export async function drain(cell: Cell, queue: Queue, jobs: number): Promise<Usage> {
  const delivered = deliveries(jobs)
  const end = await measureUsage(cell)
  await queue.work(delivered.ran)
  await delivered.all
  await queue.settled?.()
  const usage = await end()
  if (queue.settled === undefined) cell.note('timed to the last call of the handler: it does not tell more')
  await queue.stop()
  // Only now is it sure that none ran twice.
  delivered.check()
  return usage
}

/** A rate, and what a job cost. `name` is the case's. */
export function drainFigures(name: string, jobs: number, usage: Usage): Figure[] {
  const perJob = (value: number): number => value / jobs
  return [
    { case: name, unit: 'jobs/s', value: jobs / usage.seconds },
    { case: `${name}-cpu`, unit: 'µs/job', value: perJob(usage.client + usage.server) },
    { case: `${name}-cpu-client`, unit: 'µs/job', value: perJob(usage.client) },
    { case: `${name}-cpu-server`, unit: 'µs/job', value: perJob(usage.server) },
    ...(usage.wal === undefined
      ? []
      : [{ case: `${name}-wal`, unit: 'bytes/job', value: perJob(usage.wal) }]),
    { case: `${name}-noise`, unit: 'cores', value: usage.noise },
  ]
}

export const drainCase: Case = {
  names: ['d', 'd-nothing-kept'],
  async run(cell) {
    const keep = cell.case === 'd'
    await fillApart(cell, { keep })
    const queue = await cell.open({ keep })
    return drainFigures(cell.case, cell.jobs, await drain(cell, queue, cell.jobs))
  },
}
