// Case slow-commits: 16 processes with one worker each, and a server whose commits take at least 2 ms, as on
// a network disk or with a synchronous standby. First jobs come at a steady rate: the time from the moment
// when a job was to be enqueued to the call of its handler. Then the queue stays full: the rate.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Case, Cell, WorkerProcess } from '../case.ts'
import { deliveries } from '../cell/deliveries.ts'
import { monotonicMs } from '../measure/clock.ts'
import { cpuOfTree } from '../measure/cpu.ts'
import { percentile } from '../measure/percentile.ts'
import { measureUsage, usageFigures } from '../measure/usage.ts'
import type { Queue } from '../system.ts'
import { fill } from './drain.ts'

const PROCESSES = 16
const LOAD = { workers: 1, processes: PROCESSES, handlerMs: 5 }
const DELAY_US = 2_000
const PROBES = 21
/** 200 jobs per second: a sixteenth of what the workers could run if nothing but the handlers took time. */
const SUPPLY = { perCall: 2, everyMs: 10 }
/** The first part of the steady supply is not measured. */
const WARM_UP_SECONDS = 2
/** The share of the full queue that is measured: neither the start, nor the end, when processes starve. */
const MEASURED = { from: 0.2, to: 0.8 }

export const slowCommitsCase: Case = {
  names: ['slow-commits'],
  warmsUp: true,
  async run(cell) {
    const commitMs = await slowDown(cell)
    const queue = await cell.open()
    const workers = await Promise.all(Array.from({ length: PROCESSES }, () => cell.startWorker(LOAD)))
    await Promise.all(workers.map((worker) => worker.work()))
    const plannedAt = await supply(queue, cell.seconds)
    const supplied = plannedAt.length
    await ranAll(workers, supplied)
    const workerCpu = (): number => workers.reduce((sum, { pid }) => sum + cpuOfTree(pid), 0)
    const cpuBefore = workerCpu()
    const end = await measureUsage(cell)
    const jobs = await fill(queue, supplied, supplied + cell.jobs)
    await ranAll(workers, jobs)
    const usage = await end()
    const client = usage.client + workerCpu() - cpuBefore
    const results = await Promise.all(workers.map((worker) => worker.settle()))
    const delivered = deliveries(jobs)
    for (const { ran } of results) for (const n of ran) delivered.ran(n)
    delivered.check()
    const startedAt = new Map(results.flatMap(({ ran, at }) => ran.map((n, index) => [n, at[index] ?? 0])))
    const pickups = plannedAt.map((planned, n) => (startedAt.get(n) ?? Number.NaN) - planned)
    const measured = pickups.slice((supplied / cell.seconds) * WARM_UP_SECONDS)
    const name = cell.case
    return [
      {
        case: name,
        unit: 'jobs/s',
        value: rateOf([...startedAt].flatMap(([n, at]) => (n < supplied ? [] : at))),
      },
      { case: `${name}-p50`, unit: 'ms', value: percentile(measured, 0.5) },
      { case: `${name}-p99`, unit: 'ms', value: percentile(measured, 0.99) },
      { case: `${name}-commit`, unit: 'ms', value: commitMs },
      ...usageFigures(name, cell.jobs, { ...usage, client }),
    ]
  },
}

/**
 * Delays every commit of later sessions, and returns how long one takes. Without the minimum of other active
 * transactions, PostgreSQL sleeps before every flush, under the lock that flushes take, like a slow disk:
 * sessions that commit during the sleep share the next flush.
 */
async function slowDown(cell: Cell): Promise<number> {
  const client = await cell.admin()
  const database = new URL(cell.place.url).pathname.slice(1)
  await client.query(`ALTER DATABASE ${database} SET commit_delay = ${DELAY_US}`)
  await client.query(`ALTER DATABASE ${database} SET commit_siblings = 0`)
  const later = await cell.admin()
  const times: number[] = []
  for (let n = 0; n < PROBES; n += 1) {
    const began = performance.now()
    await later.query(`SELECT pg_logical_emit_message(true, 'bench', 'x')`)
    times.push(performance.now() - began)
  }
  const fastest = Math.min(...times) * 1_000
  if (fastest < DELAY_US) throw new Error(`a commit took ${fastest.toFixed()} µs, so commits are not delayed`)
  return percentile(times, 0.5)
}

/** Enqueues at a fixed rate, whatever happens. Returns when each job was to be enqueued. */
async function supply(queue: Queue, seconds: number): Promise<number[]> {
  const plannedAt: number[] = []
  const calls: Promise<void>[] = []
  const began = monotonicMs()
  for (let call = 0; call * SUPPLY.everyMs < seconds * 1_000; call += 1) {
    const planned = began + call * SUPPLY.everyMs
    await sleep(Math.max(0, planned - monotonicMs()))
    calls.push(queue.enqueueMany(plannedAt.length, SUPPLY.perCall))
    for (let n = 0; n < SUPPLY.perCall; n += 1) plannedAt.push(planned)
  }
  await Promise.all(calls)
  return plannedAt
}

async function ranAll(workers: readonly WorkerProcess[], jobs: number): Promise<void> {
  const count = async (): Promise<number> =>
    (await Promise.all(workers.map((worker) => worker.count()))).reduce((sum, one) => sum + one, 0)
  while ((await count()) < jobs) await sleep(100)
}

function rateOf(startedAt: readonly number[]): number {
  const jobs = startedAt.length * (MEASURED.to - MEASURED.from)
  return (jobs / (percentile(startedAt, MEASURED.to) - percentile(startedAt, MEASURED.from))) * 1_000
}
