// Cases open-1000 and open-4000: a process enqueues at a fixed rate, whatever happens, and another one works.
// Measures the time from the moment when a job was to be enqueued to the call of its handler, and the cost of
// a job at that rate.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Case, Figure } from '../case.ts'
import { monotonicMs } from '../measure/clock.ts'
import { cpuOfTree } from '../measure/cpu.ts'
import { percentile } from '../measure/percentile.ts'
import { measureUsage, usageFigures } from '../measure/usage.ts'

const RATES: Readonly<Record<string, number>> = { 'open-1000': 1_000, 'open-4000': 4_000 }
const LOAD = { workers: 64, handlerMs: 5 }
const TICK_MS = 1
/** The first part is not measured. */
const WARM_UP_SECONDS = 2
/** A system that is too slow gets this much longer. Jobs that have not started then count as started then. */
const GRACE_MS = 5_000

export const openLoadCase: Case = {
  names: Object.keys(RATES),
  warmsUp: true,
  async run(cell) {
    const rate = RATES[cell.case] ?? 1
    const jobs = rate * cell.seconds
    const first = rate * WARM_UP_SECONDS
    const queue = await cell.open()
    const worker = await cell.startWorker(LOAD)
    await worker.work()
    const began = monotonicMs()
    const plannedAt = (n: number): number => began + (n / rate) * 1_000
    let failed = 0
    const enqueue = (n: number): void => void queue.enqueue(n).catch(() => (failed += 1))
    const enqueueUntil = async (end: number, from: number): Promise<void> => {
      for (let n = from; n < end;) {
        for (; n < end && plannedAt(n) <= monotonicMs(); n += 1) enqueue(n)
        await sleep(TICK_MS)
      }
    }
    await enqueueUntil(first, 0)
    const workerCpu = cpuOfTree(worker.pid)
    const end = await measureUsage(cell)
    await enqueueUntil(jobs, first)
    const deadline = plannedAt(jobs) + GRACE_MS
    while ((await worker.count()) < jobs && monotonicMs() < deadline) await sleep(20)
    const usage = await end()
    const client = usage.client + cpuOfTree(worker.pid) - workerCpu
    const { ran, at } = await worker.settle()
    if (failed > 0) cell.note(`${failed} of ${jobs} enqueues failed`)
    if (new Set(ran).size !== ran.length) throw new Error('delivery is not exact: a job ran twice')
    const startedAt = new Map(ran.map((n, index) => [n, at[index] ?? deadline]))
    const late = jobs - ran.length
    if (late > 0)
      cell.note(`${late} of ${jobs} jobs had not started ${GRACE_MS / 1_000} s after the last enqueue`)
    const times = Array.from({ length: jobs - first }, (_, index) => {
      const n = first + index
      return (startedAt.get(n) ?? deadline) - plannedAt(n)
    })
    const figure = (name: string, share: number): Figure => ({
      case: name,
      unit: 'ms',
      value: percentile(times, share),
    })
    return [
      figure(cell.case, 0.5),
      figure(`${cell.case}-p99`, 0.99),
      ...usageFigures(cell.case, jobs - first, { ...usage, client }),
    ]
  },
}
