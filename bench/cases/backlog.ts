// Case g: drains a backlog ten times as long as in d. A queue that does not scan its backlog drains it at the
// same rate. Case i also uses `pacedDrain`, which measures the rate at the start and at the end.
import type { Case, Cell, Figure } from '../case.ts'
import { deliveries } from '../cell/deliveries.ts'
import { measureUsage, type Usage } from '../measure/usage.ts'
import type { Queue } from '../system.ts'
import { drainFigures, fillApart } from './drain.ts'

/** How many jobs count as the start and as the end of a drain. */
const PART = 20_000

export interface PacedDrain {
  readonly usage: Usage
  /** Jobs per second, measured by handler calls. */
  readonly first: number
  readonly last: number
}

/**
 * The queue keeps working afterwards. Call `check` after it has stopped: it throws when a job is missing or
 * ran twice.
 */
export async function pacedDrain(cell: Cell, queue: Queue): Promise<PacedDrain & { check(): void }> {
  const { jobs } = cell
  const part = Math.min(PART, Math.ceil(jobs / 2))
  const { ran, all, count, check } = deliveries(jobs)
  const at: number[] = []
  const marks = new Set([part, jobs - part, jobs])
  const end = await measureUsage(cell)
  const began = performance.now()
  await queue.work((n) => {
    ran(n)
    if (marks.has(count())) at[count()] = performance.now()
  })
  await all
  await queue.settled?.()
  const usage = await end()
  const rate = (from: number, to: number): number => (part / (to - from)) * 1_000
  const first = rate(began, at[part] ?? Number.NaN)
  const last = rate(at[jobs - part] ?? Number.NaN, at[jobs] ?? Number.NaN)
  return { usage, first, last, check }
}

/** Figures in addition to those of every drain. */
export function paceFigures(name: string, { first, last }: PacedDrain): Figure[] {
  return [
    { case: `${name}-first`, unit: 'jobs/s', value: first },
    { case: `${name}-last`, unit: 'jobs/s', value: last },
  ]
}

export const backlogCase: Case = {
  names: ['g'],
  async run(cell) {
    await fillApart(cell)
    const queue = await cell.open()
    const drained = await pacedDrain(cell, queue)
    await queue.stop()
    drained.check()
    return [...drainFigures('g', cell.jobs, drained.usage), ...paceFigures('g', drained)]
  },
}
