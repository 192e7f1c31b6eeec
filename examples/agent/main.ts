/**
 * `npm run start:agent`: an AI agent as a durable job. It books a flight with a fake model and fake tools.
 * This program kills its process with -9 while the booking runs, and starts it again. Exits with 0 only if
 * the agent finished and no step ran again after it was recorded. Uses a SQLite file, or PostgreSQL if
 * DATABASE_URL is set.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { declareJob, jobmill } from 'jobmill'
import { serveServices } from './services.ts'
import { stepCounter } from './step-counter.ts'
import { storeAt } from './store-at.ts'

const QUESTION = 'Book me the cheapest flight to Lisbon, and tell me the weather.'
const DEADLINE = '2m'

const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-agent-'))
const place = process.env['DATABASE_URL'] ?? path.join(folder, 'agent.db')
let worker: ChildProcess | undefined
process.on('exit', () => {
  worker?.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

/** This process enqueues and watches. The handler runs only in the worker. */
const agent = declareJob<{ question: string }, { answer: string | null; turns: number }>({
  kind: 'agent.run',
})
const mill = jobmill({ store: storeAt(place), log: 'silent' })
const job = await mill.enqueue(agent, { question: QUESTION })
console.log(`user     ${QUESTION}`)

const counter = stepCounter(async () => (await mill.steps(job.id)) ?? [])
let kills = 0
const services = await serveServices({
  async asked(idempotencyKey) {
    const step = idempotencyKey.slice(job.id.length + 1)
    console.log(`runs     ${step}`)
    await counter.ran(step)
  },
  mayAnswer(service) {
    if (kills > 0 || service !== '/tools/book_flight') return true
    kills += 1
    worker?.kill('SIGKILL')
    return false
  },
})

function startWorker(): Promise<unknown> {
  worker = fork(path.join(import.meta.dirname, 'worker.ts'), [place, services.url])
  return once(worker, 'exit')
}

const killed = startWorker()
void killed.then(() => {
  if (kills === 0) throw new Error('the worker ended before it was killed')
  console.log('killed   the worker, with -9: the flight is booked, and the step is not recorded')
  void startWorker()
})
const { answer, turns } = await job.result({ timeout: DEADLINE })
console.log(`agent    ${answer}`)

const violations = await counter.violations()
if (kills !== 1) violations.push('the worker was not killed')
if (services.bookings() !== 1) violations.push(`${services.bookings()} flights are booked`)
const runs = counter.runs()
const total = [...runs.values()].reduce((sum, times) => sum + times, 0)
const attempts = (await mill.history(job.id)).length
console.log(
  `counted  ${runs.size} steps in ${turns} turns ran ${total} times in ${attempts} attempts; ` +
    `${services.bookings()} flight is booked`,
)
console.log(
  violations.length === 0 ? 'passed   no step ran again after it was recorded' : violations.join('\n'),
)

worker?.kill('SIGTERM')
await mill.stop()
await services.close()
process.exit(violations.length === 0 ? 0 : 1)
