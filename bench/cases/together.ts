// Case e: one process enqueues with 64 single calls in flight and runs the jobs at the same time. Also with
// 1,000 calls, and with finished jobs removed.
import type { Case } from '../case.ts'
import { deliveries } from '../cell/deliveries.ts'
import { measureUsage, usageFigures } from '../measure/usage.ts'
import { until } from '../cell/until.ts'
import { alarm, enqueueAll } from './enqueue.ts'

const IN_FLIGHT: Readonly<Record<string, number>> = { e: 64, 'e-1000': 1_000, 'e-nothing-kept': 64 }

/** Jobs of the warm-up have numbers from here on. */
const FIRST_WARM = 1e9

export const togetherCase: Case = {
  names: Object.keys(IN_FLIGHT),
  warmsUp: true,
  async run(cell) {
    const queue = await cell.open({ keep: cell.case !== 'e-nothing-kept' })
    const lanes = IN_FLIGHT[cell.case] ?? 1
    const delivered = deliveries(cell.jobs)
    let warm = 0
    await queue.work((n) => (n < FIRST_WARM ? delivered.ran(n) : (warm += 1)))
    const warmed = await enqueueAll(queue, {
      first: FIRST_WARM,
      end: Number.POSITIVE_INFINITY,
      lanes,
      isOver: alarm(cell.warmUpSeconds),
    })
    await until(() => warm >= warmed - FIRST_WARM)
    await queue.settled?.()
    const end = await measureUsage(cell)
    await enqueueAll(queue, { first: 0, end: cell.jobs, lanes })
    await delivered.all
    await queue.settled?.()
    const usage = await end()
    await queue.stop()
    delivered.check()
    if (warm !== warmed - FIRST_WARM) throw new Error('delivery is not exact before the measurement')
    return [
      { case: cell.case, unit: 'jobs/s', value: cell.jobs / usage.seconds },
      ...usageFigures(cell.case, cell.jobs, usage),
    ]
  },
}
