// f: how soon a job begins that is enqueued while nothing else is to do, from the call that enqueues it to the call of its
// handler. In the same process, and in another one than where it is enqueued.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Case, Cell, Figure } from '../case.ts'
import { deliveries } from '../deliveries.ts'
import { monotonicMs } from '../measure/clock.ts'
import { percentile } from '../measure/percentile.ts'
import { payloadOf } from '../system.ts'

const APART_MS = 20
const SETTLE_MS = 300

/** One call after the other, and when each of them began. */
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

async function inSameProcess(cell: Cell): Promise<number[]> {
  const queue = await cell.open()
  const delivered = deliveries(cell.jobs)
  const at: number[] = []
  await queue.work((n) => {
    at[n] ??= monotonicMs()
    delivered.ran(n)
  })
  const began = await enqueueApart(cell.jobs, (n) => queue.enqueue(n))
  await delivered.all
  await queue.stop()
  delivered.check()
  return began.map((from, n) => (at[n] ?? Number.NaN) - from)
}

async function inOtherProcess(cell: Cell): Promise<number[]> {
  const worker = await cell.startWorker()
  await worker.work()
  const queue = await cell.open()
  const began = await enqueueApart(cell.jobs, (n) => queue.enqueue(n))
  while ((await worker.count()) < cell.jobs) await sleep(APART_MS)
  const { ran, at } = await worker.settle()
  const delivered = deliveries(cell.jobs)
  for (const n of ran) delivered.ran(n)
  delivered.check()
  return ran.map((n, index) => (at[index] ?? Number.NaN) - (began[n] ?? Number.NaN))
}

/** The yardstick: one row into one table with a key, by a prepared statement, until the answer is there. */
async function bareInsert(cell: Cell): Promise<number[]> {
  const client = await cell.admin()
  await client.query('CREATE TABLE line (id int8 PRIMARY KEY, payload json NOT NULL)')
  const ended: number[] = []
  const began = await enqueueApart(cell.jobs, async (n) => {
    const values = [n, JSON.stringify(payloadOf(n))]
    await client.query({ name: 'insert', text: 'INSERT INTO line VALUES ($1, $2)', values })
    ended.push(monotonicMs())
  })
  return began.map((from, n) => (ended[n] ?? Number.NaN) - from)
}

export const pickupCase: Case = {
  names: ['f-same', 'f-other'],
  async run(cell) {
    const measure =
      cell.system.name === 'bare' ? bareInsert : cell.case === 'f-same' ? inSameProcess : inOtherProcess
    const times = await measure(cell)
    const figure = (name: string, share: number): Figure => ({
      case: name,
      unit: 'ms',
      value: percentile(times, share),
    })
    return [figure(cell.case, 0.5), figure(`${cell.case}-p95`, 0.95), figure(`${cell.case}-p99`, 0.99)]
  },
}
