// Case l: the cost of an idle system, with workers started and an empty queue.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Case, Figure } from '../case.ts'
import { deliveries } from '../cell/deliveries.ts'
import { statementCounter } from '../measure/statements.ts'
import { measureUsage } from '../measure/usage.ts'

/**
 * Run a few jobs first, so that lazy parts have started; then wait until the system has written their
 * statistics.
 */
const WARM_UP = 5
const REST_MS = 2_500

export const idleCase: Case = {
  names: ['l'],
  async run(cell) {
    const startCount = await statementCounter(cell)
    const queue = await cell.open()
    const delivered = deliveries(WARM_UP)
    await queue.work(delivered.ran)
    for (let n = 0; n < WARM_UP; n += 1) await queue.enqueue(n)
    await delivered.all
    await sleep(REST_MS)
    const usage = await measureUsage(cell)
    const endCount = await startCount?.()
    await sleep(cell.seconds * 1_000)
    const statements = await endCount?.()
    const { seconds, client, server } = await usage()
    delivered.check()
    const figures: Figure[] = [{ case: 'l-cpu', unit: 'ms/s', value: (client + server) / 1_000 / seconds }]
    if (statements !== undefined) {
      figures.unshift({ case: 'l', unit: 'statements/s', value: statements / seconds })
    }
    return figures
  },
}
