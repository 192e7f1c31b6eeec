// Case j: two and four processes drain a full queue at the same time.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Case } from '../case.ts'
import { deliveries } from '../deliveries.ts'
import { cpuOfTree } from '../measure/cpu.ts'
import { fillApart } from './drain.ts'

const PROCESSES: Readonly<Record<string, number>> = { 'j-2': 2, 'j-4': 4 }
const LOOK_EVERY_MS = 5

export const processesCase: Case = {
  names: Object.keys(PROCESSES),
  async run(cell) {
    await fillApart(cell)
    const workers = []
    for (let n = 0; n < (PROCESSES[cell.case] ?? 1); n += 1) workers.push(await cell.startWorker())
    const serverCpu = cell.server === undefined ? 0 : cpuOfTree(cell.server.pid)
    const began = await Promise.all(workers.map((worker) => worker.work()))
    for (let ran = 0; ran < cell.jobs;) {
      await sleep(LOOK_EVERY_MS)
      const counts = await Promise.all(workers.map((worker) => worker.count()))
      ran = counts.reduce((sum, one) => sum + one, 0)
    }
    const results = await Promise.all(workers.map((worker) => worker.settle()))
    const cpu = results.reduce((sum, one) => sum + one.cpu, 0)
    const used = cpu + (cell.server === undefined ? 0 : cpuOfTree(cell.server.pid) - serverCpu)
    const delivered = deliveries(cell.jobs)
    for (const { ran } of results) for (const n of ran) delivered.ran(n)
    delivered.check()
    const ms = Math.max(...results.map(({ settledAt }) => settledAt)) - Math.min(...began)
    return [
      { case: cell.case, unit: 'jobs/s', value: (cell.jobs / ms) * 1_000 },
      { case: `${cell.case}-cpu`, unit: 'µs/job', value: used / cell.jobs },
    ]
  },
}
