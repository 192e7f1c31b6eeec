// Case f: the latency of a job in an idle system, from the enqueue call to the handler call, in the same
// process and in another one (in f-tx enqueued in a transaction). Also the cost of a job that comes alone.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Case, Cell, Figure } from '../case.ts'
import { deliveries } from '../cell/deliveries.ts'
import { monotonicMs } from '../measure/clock.ts'
import { cpuOfTree } from '../measure/cpu.ts'
import { percentile } from '../measure/percentile.ts'
import { measureUsage, type Usage, usageFigures } from '../measure/usage.ts'
import { payloadOf, type Queue } from '../system.ts'

const APART_MS = 20
const SETTLE_MS = 300

/** Makes one call after the other and returns the start time of each. */
async function enqueueApart(jobs: number, enqueue: (n: number) => Promise<unknown>): Promise<number[]> {
  const began: number[] = []
  await sleep(SETTLE_MS)
  for (let n = 0; n < jobs; n += 1) {
    began.push(monotonicMs())
    await enqueue(n)
    await sleep(APART_MS)
  }
  return began
}

interface Pickups {
  /** In the order of the jobs, in ms. */
  readonly times: readonly number[]
  /** Undefined for the bare driver, which runs no jobs. */
  readonly usage?: Usage
}

async function inSameProcess(cell: Cell): Promise<Pickups> {
  const queue = await cell.open()
  const jobs = cell.warmUp + cell.jobs
  const delivered = deliveries(jobs)
  const at: number[] = []
  await queue.work((n) => {
    at[n] ??= monotonicMs()
    delivered.ran(n)
  })
  const end = await measureUsage(cell)
  const began = await enqueueApart(jobs, (n) => queue.enqueue(n))
  await delivered.all
  const usage = await end()
  await queue.stop()
  delivered.check()
  return { times: began.map((from, n) => (at[n] ?? Number.NaN) - from), usage }
}

async function inOtherProcess(cell: Cell): Promise<Pickups> {
  const worker = await cell.startWorker()
  await worker.work()
  const queue = await cell.open()
  const jobs = cell.warmUp + cell.jobs
  const workerCpu = cpuOfTree(worker.pid)
  const end = await measureUsage(cell)
  const began = await enqueueApart(jobs, (n) => enqueueIn(queue, cell.case, n))
  while ((await worker.count()) < jobs) await sleep(APART_MS)
  const usage = await end()
  const client = usage.client + cpuOfTree(worker.pid) - workerCpu
  const { ran, at } = await worker.settle()
  const delivered = deliveries(jobs)
  for (const n of ran) delivered.ran(n)
  delivered.check()
  const startTimes: number[] = []
  ran.forEach((n, index) => (startTimes[n] = at[index] ?? Number.NaN))
  return {
    times: began.map((from, n) => (startTimes[n] ?? Number.NaN) - from),
    usage: { ...usage, client },
  }
}

function enqueueIn(queue: Queue, name: string, n: number): Promise<void> {
  if (name !== 'f-tx') return queue.enqueue(n)
  if (queue.enqueueInTransaction === undefined) throw new Error(`${name}: the system has no transactions`)
  return queue.enqueueInTransaction(n)
}

type Insert = (n: number, payload: string) => unknown

async function insertIntoServer(cell: Cell): Promise<Insert> {
  const client = await cell.admin()
  await client.query('CREATE TABLE line (id int8 PRIMARY KEY, payload json NOT NULL)')
  return (n, payload) =>
    client.query({ name: 'insert', text: 'INSERT INTO line VALUES ($1, $2)', values: [n, payload] })
}

async function insertIntoFile({ place }: Cell): Promise<Insert> {
  const { default: Database } = await import('better-sqlite3')
  const database = new Database(place.url)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.exec('CREATE TABLE line (id INTEGER PRIMARY KEY, payload TEXT NOT NULL)')
  const insert = database.prepare('INSERT INTO line VALUES (?, ?)')
  return (n, payload) => insert.run(n, payload)
}

/**
 * The yardstick: one committed row in one table with a key, by a prepared statement, until the answer
 * arrives.
 */
async function bareInsert(cell: Cell): Promise<Pickups> {
  const insert = await (cell.place.store === 'sqlite' ? insertIntoFile(cell) : insertIntoServer(cell))
  const ended: number[] = []
  const began = await enqueueApart(cell.warmUp + cell.jobs, async (n) => {
    await insert(n, JSON.stringify(payloadOf(n)))
    ended.push(monotonicMs())
  })
  return { times: began.map((from, n) => (ended[n] ?? Number.NaN) - from) }
}

export const pickupCase: Case = {
  names: ['f-same', 'f-other', 'f-tx'],
  warmsUp: true,
  async run(cell) {
    const measure =
      cell.system.name === 'bare' ? bareInsert : cell.case === 'f-same' ? inSameProcess : inOtherProcess
    const { times: all, usage } = await measure(cell)
    const times = all.slice(cell.warmUp)
    const figure = (name: string, share: number): Figure => ({
      case: name,
      unit: 'ms',
      value: percentile(times, share),
    })
    return [
      figure(cell.case, 0.5),
      figure(`${cell.case}-p95`, 0.95),
      figure(`${cell.case}-p99`, 0.99),
      ...(usage === undefined ? [] : usageFigures(cell.case, all.length, usage)),
    ]
  },
}
