// Case d: one process drains a queue that is full when its workers start. Other cases use `fill` and `drain`,
// which returns the resources that it used.
import type { Case, Cell, Figure } from '../case.ts'
import { deliveries } from '../deliveries.ts'
import { measureUsage, type Usage } from '../measure/usage.ts'
import type { Queue } from '../system.ts'

const BULK = 1_000
const never = (): boolean => false
/** Bulk calls in flight at a time, the same for every system. */
const IN_FLIGHT = 2

/**
 * Enqueues the jobs `first` to `end` − 1 in thousands, or as many as time allows. Returns the number after
 * the last job.
 */
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
 * Fills the queue through a second handle, so that the drain starts like a process that finds a backlog. Then
 * runs the vacuum that autovacuum would run within a minute, so that no drain depends on its timing.
 */
export async function fillApart(cell: Cell, how = { keep: true }): Promise<void> {
  const filler = await cell.open(how)
  await fill(filler, 0, cell.jobs)
  await filler.stop()
  if (cell.place.store === 'postgres') await (await cell.admin()).query('VACUUM ANALYZE')
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
