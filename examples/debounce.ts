/**
 * Repeated enqueues with the same key: the first one wins for a time, one job waits while another runs, and
 * the last one wins once no more arrive. In memory, or on PostgreSQL if DATABASE_URL is set.
 */
import { defineJob, type JobContext, jobmill } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'

const notify = defineJob({ kind: 'user.notify', run: () => 'notified' })

const syncStarted = Promise.withResolvers<void>()
const syncMayEnd = Promise.withResolvers<void>()
let syncs = 0
const sync = defineJob({
  kind: 'shop.sync',
  async run() {
    syncs += 1
    syncStarted.resolve()
    await syncMayEnd.promise
  },
})

const reindex = defineJob({
  kind: 'doc.reindex',
  run: ({ payload }: JobContext<{ text: string }>) => `indexed "${payload.text}"`,
})

const url = process.env['DATABASE_URL']
const mill = jobmill({
  store: url === undefined ? sqlite(':memory:') : postgres(url),
  jobs: [notify, sync, reindex],
  log: 'silent',
})

// The first enqueue wins for ten minutes, even if its job has ended by then.
const window = { dedupe: { key: 'user:7', window: '10m' } }
const notified = await mill.enqueue(notify, null, window)

// A second waiting job would do the same work. A running job may have missed the last change.
const untilStarted = { dedupe: { key: 'shop:7', until: 'started' } } as const
const waits = [await mill.enqueue(sync, null, untilStarted), await mill.enqueue(sync, null, untilStarted)]

await mill.start()
await notified.result()
const { outcome } = await mill.enqueue(notify, null, window)
console.log(`window     ${notified.outcome}, and ${outcome} after its job is done`)

await syncStarted.promise
const next = await mill.enqueue(sync, null, untilStarted)
syncMayEnd.resolve()
await next.result()
console.log(
  `started    ${waits.map((job) => job.outcome).join(', ')}, and ${next.outcome} while it runs: ${syncs} runs`,
)

// The last enqueue wins: the job runs once no more have arrived for 100 ms, or 2 s after the first one.
const debounce = { key: 'doc:7', wait: '100ms', maxWait: '2s' }
const edits = ['H', 'He', 'Hello'].map((text) => ({ payload: { text }, debounce }))
const jobs = await mill.enqueueMany(reindex, edits)
console.log(`debounce   ${jobs.map((job) => job.outcome).join(', ')}: ${await jobs[0]?.result()}`)
await mill.stop()
