/**
 * A chunk handler: 1,000 page views are enqueued one by one and stored with one insert per chunk. In memory,
 * or on PostgreSQL if DATABASE_URL is set.
 */
import { type ChunkContext, Dead, defineJob, jobmill } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'

interface PageView {
  readonly path: string
}

let inserts = 0
const stored = new Map<string, string>()

const storeViews = defineJob({
  kind: 'views.store',
  queue: 'views',
  chunk: { size: 100, wait: '100ms' },
  async run({ jobs }: ChunkContext<PageView>) {
    inserts += 1
    for (const { payload, job, fail } of jobs) {
      if (!payload.path.startsWith('/')) fail(new Dead(`"${payload.path}" is not a path`))
      // The id of the job is the key, so that a second run stores nothing twice.
      else stored.set(job.id, payload.path)
    }
  },
})

const url = process.env['DATABASE_URL']
const mill = jobmill({
  store: url === undefined ? sqlite(':memory:') : postgres(url),
  jobs: [storeViews],
  queues: { views: { workers: 200 } },
  log: 'silent',
})
await mill.start()
const views = Array.from({ length: 1_000 }, (_, n) => ({ payload: { path: `/page/${n}` } }))
const jobs = await mill.enqueueMany(storeViews, views)
const wrong = await mill.enqueue(storeViews, { path: 'pricing' })
await Promise.all(jobs.map((job) => job.result()))
console.log(`stored     ${stored.size} views with fewer than 100 inserts: ${inserts < 100}`)
await wrong.result().catch((error: unknown) => console.log(`refused    ${String(error)}`))
const [counts] = (await mill.counts()).filter(({ queue }) => queue === 'views')
console.log(`counts     ${counts?.done} done, ${counts?.dead} dead`)
await mill.stop()
