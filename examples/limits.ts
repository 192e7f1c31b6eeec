/**
 * Limits: a rate limit on a queue, a rate limit in a handler whose upstream answers 429, and a concurrency
 * limit. In memory, or on PostgreSQL if DATABASE_URL is set, where all processes share them.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { defineJob, type JobContext, jobmill } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'

const sendMail = defineJob({ kind: 'mail.send', queue: 'mail', run: ({ now }) => now() })

let refusals = 1
const callApi = defineJob({
  kind: 'api.call',
  async run({ limit, now, snooze }: JobContext<null>) {
    await limit.acquire('api')
    if (refusals === 0) return now()
    refusals -= 1
    console.log('refused    the upstream said 429: calls pause for 1 s')
    await limit.drain('api', { retryAfter: '1s' })
    return snooze('1s')
  },
})

let running = 0
let most = 0
const readTable = defineJob({
  kind: 'table.read',
  async run({ limit }: JobContext<null>) {
    const permit = await limit.acquire('db')
    running += 1
    most = Math.max(most, running)
    await sleep(50)
    running -= 1
    await permit.release() // optional: the end of the job releases it too
  },
})

const url = process.env['DATABASE_URL']
const store = url === undefined ? sqlite(':memory:') : postgres(url)
const mill = jobmill({
  store,
  jobs: [sendMail, callApi, readTable],
  limits: {
    smtp: { rate: 10 },
    api: { rate: 4, burst: 1 },
    db: { concurrency: 2 },
  },
  queues: { mail: { limit: 'smtp' } },
  log: 'silent',
})
await mill.start()
const times = (many: number): { payload: null }[] => Array.from({ length: many }, () => ({ payload: null }))
const apart = (instants: readonly number[]): string =>
  `${((Math.max(...instants) - Math.min(...instants)) / 1_000).toFixed(1)} s`

// On a queue: its jobs are not claimed until the limit allows it.
const mails = await mill.enqueueMany(sendMail, times(20))
const sentAt = await Promise.all(mails.map((mail) => mail.result()))
console.log(`queue      20 mails, 10 at once and 10 a second, took ${apart(sentAt)}`)

// In a handler: a job over the limit is retried when the limit allows it, and spends no attempt.
const calls = await mill.enqueueMany(callApi, times(3))
const calledAt = await Promise.all(calls.map((call) => call.result()))
console.log(`handler    3 calls at 4 a second took ${apart(calledAt)} once the upstream was ready`)

const reads = await mill.enqueueMany(readTable, times(6))
await Promise.all(reads.map((read) => read.result()))
console.log(`permits    6 reads, at most ${most} at once`)

// The same limit outside handlers. An operator can change it at run time.
const permit = await mill.limit('db').acquire({ timeout: '5s' })
const db = (await mill.limits.list()).find(({ name }) => name === 'db')
console.log(`outside    ${db?.held} permit of the limit db is held`)
await permit.release()
await mill.limits.change('smtp', { rate: 1_000 })
await Promise.all((await mill.enqueueMany(sendMail, times(20))).map((mail) => mail.result()))
console.log('changed    20 more at 1,000 a second')
await mill.limits.change('smtp', { rate: 10 })

await mill
  .limit('smpt')
  .acquire()
  .catch((error: unknown) => console.log(`unknown    ${String(error)}`))

await mill.stop()
