// e: the same process enqueues, 64 single calls in flight, and works through what it enqueued, at the same time.
import type { Case } from '../case.ts'
import { deliveries } from '../deliveries.ts'
import { measureUsage } from '../measure/usage.ts'
import { until } from '../until.ts'
import { enqueueAll } from './enqueue.ts'

const IN_FLIGHT: Readonly<Record<string, number>> = { e: 64, 'e-1000': 1_000 }

export const togetherCase: Case = {
  names: Object.keys(IN_FLIGHT),
  warmsUp: true,
  async run(cell) {
    const queue = await cell.open()
    const lanes = IN_FLIGHT[cell.case] ?? 1
    const all = cell.warmUp + cell.jobs
    const delivered = deliveries(all)
    await queue.work(delivered.ran)
    await enqueueAll(queue, 0, cell.warmUp, lanes)
    await until(() => delivered.count() === cell.warmUp)
    await queue.settled?.()
    const end = await measureUsage(cell)
    await enqueueAll(queue, cell.warmUp, all, lanes)
    await delivered.all
    await queue.settled?.()
    const { seconds, client, server } = await end()
    await queue.stop()
    delivered.check()
    return [
      { case: cell.case, unit: 'jobs/s', value: cell.jobs / seconds },
      { case: `${cell.case}-cpu`, unit: 'µs/job', value: (client + server) / cell.jobs },
    ]
  },
}
