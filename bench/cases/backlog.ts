// g: a drain out of a backlog ten times as long as that of d, which a queue without a scan does at the same rate. Also the
// drain of i: one that tells how fast it was at its beginning and at its end.
import type { Case, Cell, Figure } from '../case.ts'
import { deliveries } from '../deliveries.ts'
import { measureUsage, type Usage } from '../measure/usage.ts'
import type { Queue } from '../system.ts'
import { drainFigures, fillApart } from './drain.ts'

/** What counts as the beginning and as the end. */
const PART = 20_000

export interface PacedDrain {
  readonly usage: Usage
  /** Jobs per second, by the calls of the handler. */
  readonly first: number
  readonly last: number
}

/** The queue goes on working afterwards; `check` throws when a job is missing or ran twice, and is for after its stop. */
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

/** Beside those of any drain. */
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
