/**
 * A mill in a process whose application has replaced the parsers of pg, which are global. It sends `done`
 * with what the API returned, or `failed` with the error.
 */
import pg from 'pg'
import { defineJob, type JobContext, jobmill } from '../../src/index.ts'
import { postgres } from '../../src/postgres.ts'

export interface ParsersProcess {
  readonly url: string
  readonly schema: string
  /** `foreign`: every value becomes an object. `binary`: the server sends binary values. */
  readonly parsers: 'foreign' | 'binary'
}

const { url, schema, parsers } = JSON.parse(process.argv[2] ?? '{}') as ParsersProcess

if (parsers === 'binary') pg.defaults.binary = true
else
  for (let oid = 1; oid < 4000; oid += 1) pg.types.setTypeParser(oid, (text: string) => ({ foreign: text }))

async function work(): Promise<unknown> {
  const double = defineJob({
    kind: 'double',
    async run({ payload, limit }: JobContext<number>) {
      await limit.acquire('narrow')
      return payload * 2
    },
  })
  const mill = jobmill({
    store: postgres(url, { schema }),
    jobs: [double],
    limits: { narrow: { concurrency: 1 } },
    log: 'silent',
  })
  try {
    await mill.start()
    const job = await mill.enqueue(double, 21, { tags: ['a,b', '"', 'NULL', String.raw`\ `] })
    const delayed = await mill.enqueue(double, 2, { delay: '50ms', dedupeKey: 'once' })
    const results = [await job.result(), await delayed.result()]
    const view = await mill.get(job.id)
    const { ready } = await mill.readiness()
    return { results, state: view?.state, tags: view?.tags, ready }
  } finally {
    await mill.stop()
  }
}

work().then(
  (answer) => process.send?.(`done ${JSON.stringify(answer)}`),
  (error: unknown) => process.send?.(`failed ${String(error)}`),
)
