// e: the same process enqueues, 64 single calls in flight, and works through what it enqueued, at the same time.
import type { Case } from '../case.ts'
import { deliveries } from '../deliveries.ts'
import { measureUsage } from '../measure/usage.ts'
import { enqueueAll } from './enqueue.ts'

const IN_FLIGHT: Readonly<Record<string, number>> = { e: 64, 'e-1000': 1_000 }

export const togetherCase: Case = {
  names: Object.keys(IN_FLIGHT),
  async run(cell) {
    const queue = await cell.open()
    const delivered = deliveries(cell.jobs)
    await queue.work(delivered.ran)
    const end = await measureUsage(cell)
    await enqueueAll(queue, cell.jobs, IN_FLIGHT[cell.case] ?? 1)
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
