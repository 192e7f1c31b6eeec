// Counts statements and commits per job during a drain. Separate from d, because counting slows the drain
// down.
import type pg from 'pg'
import type { Case } from '../case.ts'
import { statementCounter } from '../measure/statements.ts'
import { drain, fillApart } from './drain.ts'

export const statementsCase: Case = {
  names: ['d-statements'],
  async run(cell) {
    const startCount = await statementCounter(cell)
    if (startCount === undefined) throw new Error(`statements cannot be counted on ${cell.place.store}`)
    await fillApart(cell)
    const commits = cell.place.store === 'postgres' ? await commitCounter(await cell.admin()) : undefined
    const queue = await cell.open()
    const endCount = await startCount()
    await drain(cell, queue, cell.jobs)
    const statements = await endCount()
    return [
      { case: 'd-statements', unit: 'per job', value: statements / cell.jobs },
      ...(commits ? [{ case: 'd-commits', unit: 'per job', value: (await commits()) / cell.jobs }] : []),
    ]
  },
}

/**
 * A connection reports its commits at the latest when it closes. Ask before the system connects and after it
 * has closed, and none is missed.
 */
async function commitCounter(client: pg.Client): Promise<() => Promise<number>> {
  const read = async (): Promise<number> => {
    const { rows } = await client.query<{ n: string }>(
      'SELECT xact_commit AS n FROM pg_stat_database WHERE datname = current_database()',
    )
    return Number(rows[0]?.n)
  }
  const before = await read()
  return async () => (await read()) - before
}
