/**
 * Hello, Jobmill: jobs that succeed, retry, are delayed, prioritized and deduplicated. Uses a SQLite file, or
 * PostgreSQL if DATABASE_URL is set. Kill it halfway and run it again: it finishes the rest.
 */
import path from 'node:path'
import { defineJob, type JobContext, jobmill } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'

const sendEmail = defineJob({
  kind: 'email.send',
  run({ payload }: JobContext<{ to: string }>) {
    console.log(`runs       email.send to ${payload.to}`)
    return { sent: payload.to }
  },
})

const buildReport = defineJob({
  kind: 'report.build',
  run: ({ job, now }) => ({ waitedMs: now() - job.enqueuedAt }),
})

const callUpstream = defineJob({
  kind: 'upstream.call',
  maxAttempts: 3,
  backoff: { fixed: '200ms' },
  run({ attempt }) {
    if (attempt < 3) throw new Error('the upstream said 503')
    return { attempt }
  },
})

const url = process.env['DATABASE_URL']
const store = url === undefined ? sqlite(path.resolve('hello.db')) : postgres(url)
const mill = jobmill({ store, jobs: [sendEmail, buildReport, callUpstream], log: 'silent' })
mill.on('retried', ({ kind, attempt, delayMs, error }) =>
  console.log(`retry      ${kind} attempt ${attempt} failed, again in ${delayMs} ms: ${error}`),
)
console.log(`store      ${store.name}`)

// Enqueue. Each call resolves after the commit: from here on, the job survives a crash. Nothing runs yet.
const emails = await mill.enqueueMany(sendEmail, [
  { payload: { to: 'team@example.com' } },
  { payload: { to: 'ops@example.com' }, priority: -1 }, // lower runs first
  { payload: { to: 'ada@example.com' }, dedupeKey: 'welcome:ada' },
])
const again = await mill.enqueue(sendEmail, { to: 'ada@example.com' }, { dedupeKey: 'welcome:ada' })
console.log(`${again.outcome}  the key welcome:ada is held by ${again.id}`)
const report = await mill.enqueue(buildReport, { month: '2026-10' }, { delay: '1s' })
const call = await mill.enqueue(callUpstream)

// Work. You can await a result here or in any other process.
await mill.start()
const sent = await Promise.all(emails.map((email) => email.result()))
console.log(`done       email.send ${JSON.stringify(sent)}`)
console.log(`done       upstream.call in attempt ${(await call.result()).attempt}`)
console.log(`done       report.build, delayed by 1 s, after ${(await report.result()).waitedMs} ms`)

// Every state is counted, and every attempt is kept.
for (const { attempt, outcome } of await mill.history(call.id))
  console.log(`history    upstream.call attempt ${attempt} ${outcome}`)
for (const { queue, done, dead, scheduled, ready } of await mill.counts())
  console.log(`queue      ${queue}: ${done} done, ${dead} dead, ${scheduled + ready} waiting`)

const { finished, interrupted } = await mill.stop()
console.log(`stopped    ${finished} finished, ${interrupted} interrupted`)
