/** The observed process: a mill and its load. See messages.ts for its orders and reports. */
import { setTimeout as sleep } from 'node:timers/promises'
import { jobmill } from 'jobmill'
import { storeAt } from '../cluster/places.ts'
import { JOBS, optionsFor } from './jobs.ts'
import { load as createLoad } from './load.ts'
import type { Order, Progress, Report, Task } from './messages.ts'
import { openJobs } from './open-jobs.ts'
import { takeSample } from './sample.ts'

/** How often the store is queried for jobs that another process ran. */
const ASK_EVERY_MS = 5_000
/**
 * How long everything may take to end after the last job: the jobs of a killed process wait for its lease.
 */
const END_MS = 90_000

const { place, leaks } = JSON.parse(process.argv[2] ?? '{}') as Task
const mill = jobmill(optionsFor(await storeAt(place), leaks))
const open = openJobs(mill)
const load = createLoad(mill, open)
const over = new AbortController()
let ticks = 0
mill.on('schedule-fired', () => (ticks += 1))

const say = (report: Report): void => void process.send?.(report)

function progress(): Progress {
  const { refused, unknown } = load
  return { counts: open.counts, open: open.size, refused, unknown }
}

const kept: unknown[] = []
async function plant(): Promise<void> {
  if (leaks.includes('memory'))
    mill.on('finished', (event) => kept.push({ ...event, more: Array.from({ length: 20 }) }))
  if (leaks.includes('lost')) {
    const { id } = await mill.enqueue(JOBS.quick, { n: 0 }, { delay: '1h' })
    open.acknowledged(id)
    await mill.delete(id)
  }
  for (; !over.signal.aborted; await sleep(1_000)) {
    if (leaks.includes('timer')) kept.push(setTimeout(() => {}, 3_600_000))
    if (leaks.includes('listener')) process.on('beforeExit', () => kept.length)
  }
}

async function askNowAndThen(): Promise<void> {
  for (; !over.signal.aborted; await sleep(ASK_EVERY_MS)) await open.ask()
}

async function finish(): Promise<void> {
  over.abort()
  await loading
  const deadline = performance.now() + END_MS
  const count = async (): Promise<number> =>
    (await mill.counts()).reduce((sum, { scheduled, ready, running }) => sum + scheduled + ready + running, 0)
  // The schedules continue; each of their jobs ends immediately.
  while (open.size > 0 && performance.now() < deadline) {
    await sleep(500)
    await open.ask(true)
  }
  for (const { name } of await mill.schedules.list()) await mill.schedules.pause(name)
  while ((await count()) > 0 && performance.now() < deadline) await sleep(200)
  const waiting = await count()
  await mill.stop()
  say({ is: 'end', progress: progress(), waiting, ticks, broken: load.broken })
  // Close nothing else: leftovers of the mill would keep this process alive and so be detected.
  process.disconnect()
  process.off('SIGINT', ignore)
}

// Ctrl+C reaches every process of the terminal; the parent decides.
const ignore = (): void => {}
process.on('SIGINT', ignore)
process.on('message', (order: Order) => {
  if (order === 'finish') void finish()
  else void takeSample().then((sample) => say({ is: 'sample', sample, progress: progress() }))
})
// The parent process is gone.
process.on('disconnect', () => {
  if (!over.signal.aborted) process.exit()
})

await mill.start()
const loading = Promise.all([load.run(over.signal), askNowAndThen(), plant()])
say({ is: 'ready' })
