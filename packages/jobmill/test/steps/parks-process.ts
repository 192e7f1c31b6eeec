/** A program that parks jobs again and again, and prints by how much its heap has grown. */
import { defineJob, jobmill } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'

const JOBS = 100
const [, , how = 'plain', times = '1000'] = process.argv
const parks = Number(times)
const collect = (globalThis as { gc?: () => void }).gc

let parked = 0
let allParked = (): void => {}
const job = defineJob({
  kind: 'a',
  run({ step, signal }) {
    if (how === 'listening') signal.addEventListener('abort', () => void (parked += 0))
    return step.waitForEvent('never')
  },
})
const store = sqlite(':memory:')
const mill = jobmill({ store, jobs: [job], log: 'silent', queues: { default: { workers: JOBS } } })
mill.on('parked', () => {
  parked += 1
  if (parked % JOBS === 0) allParked()
})

/** Runs all jobs until they are parked, that many times. */
async function run(ids: readonly string[], rounds: number): Promise<void> {
  for (let n = 0; n < rounds; n += 1) {
    const over = new Promise<void>((resolve) => (allParked = resolve))
    await store.runNow(ids)
    await over
  }
}

function heapBytes(): number {
  collect?.()
  collect?.()
  return process.memoryUsage().heapUsed
}

const first = new Promise<void>((resolve) => (allParked = resolve))
await mill.start()
const jobs = await mill.enqueueMany(
  job,
  Array.from({ length: JOBS }, () => ({ payload: null })),
)
await first
const ids = jobs.map(({ id }) => id)
// Fills the buffers that keep the newest of something.
await run(ids, 50)
const before = heapBytes()
await run(ids, parks / JOBS)
console.log(JSON.stringify({ parks: parks, grownBytes: heapBytes() - before }))
await mill.stop({ grace: 0 })
