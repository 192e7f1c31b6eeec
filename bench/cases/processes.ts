// Case j: two and four processes drain a full queue at the same time, measured once they have run the jobs of
// the warm-up. In j-cold there is none: the processes start into the full queue.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Case, WorkerProcess } from '../case.ts'
import { deliveries } from '../cell/deliveries.ts'
import { monotonicMs } from '../measure/clock.ts'
import { cpuOfTree } from '../measure/cpu.ts'
import { fillApart } from './drain.ts'

const PROCESSES: Readonly<Record<string, number>> = { 'j-2': 2, 'j-4': 4, 'j-cold-2': 2, 'j-cold-4': 4 }
const LOOK_EVERY_MS = 5

export const processesCase: Case = {
  names: Object.keys(PROCESSES),
  warmsUp: true,
  async run(cell) {
    const all = cell.warmUp + cell.jobs
    await fillApart({ ...cell, jobs: all })
    const workers: WorkerProcess[] = []
    for (let n = 0; n < (PROCESSES[cell.case] ?? 1); n += 1) workers.push(await cell.startWorker())
    const cpu = (): number =>
      sum([...workers, ...(cell.server === undefined ? [] : [cell.server])].map(({ pid }) => cpuOfTree(pid)))
    const ran = async (): Promise<number> => sum(await Promise.all(workers.map((worker) => worker.count())))
    const untilRan = async (jobs: number): Promise<number> => {
      for (;;) {
        const now = await ran()
        if (now >= jobs) return now
        await sleep(LOOK_EVERY_MS)
      }
    }
    const cold = cpu()
    const began = Math.min(...(await Promise.all(workers.map((worker) => worker.work()))))
    const warm = cell.warmUp === 0 ? 0 : await untilRan(cell.warmUp)
    const before = cell.warmUp === 0 ? { at: began, cpu: cold } : { at: monotonicMs(), cpu: cpu() }
    await untilRan(all)
    const results = await Promise.all(workers.map((worker) => worker.settle()))
    const used = cpu() - before.cpu
    const delivered = deliveries(all)
    for (const { ran: numbers } of results) for (const n of numbers) delivered.ran(n)
    delivered.check()
    const jobs = all - warm
    if (jobs === 0) throw new Error(`every job ran during the warm-up of ${cell.warmUp} jobs`)
    const ms = Math.max(...results.map(({ settledAt }) => settledAt)) - before.at
    return [
      { case: cell.case, unit: 'jobs/s', value: (jobs / ms) * 1_000 },
      { case: `${cell.case}-cpu`, unit: 'µs/job', value: used / jobs },
    ]
  },
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
