// The fake clock on PostgreSQL: the database uses it, and real calls are awaited.
import pg from 'pg'
import { describe, expect, expectTypeOf, inject, test } from 'vitest'
import { recycledSchema } from '../../../../test/support/postgres/recycled-schemas.ts'
import { defineJob, type JobContext } from '../../src/index.ts'
import { postgres, type Tx } from '../../src/postgres.ts'
import {
  expectEnqueued,
  faultyStore,
  type TestMill,
  testMill,
  type TestPlatform,
} from '../../src/testing/index.ts'
import { echo, gatedJob } from './support.ts'

const url = inject('keptPostgresUrl')

/**
 * A store in its own schema, with planned faults on request. A notifier from outside would send notifications
 * at any time.
 */
const fresh = (notifier?: false) => {
  const schema = recycledSchema(url, 'kit')
  const options = notifier === false ? { schema, notifier } : { schema }
  return (platform: TestPlatform) => faultyStore(postgres(url, { ...options, clock: platform.now }))
}

const flaky = defineJob({
  kind: 'flaky',
  backoff: { fixed: '3m' },
  run({ attempt }: JobContext<null>) {
    if (attempt === 1) throw new Error('once')
  },
})

describe('a test mill on postgres', () => {
  test('N13 a handler that completes in a transaction of pg runs on it; on SQLite the error says what to do', async () => {
    const pool = new pg.Pool({ connectionString: url, max: 1 })
    const pays = defineJob({
      kind: 'pays',
      maxAttempts: 1,
      async run({ complete }: JobContext<null, pg.PoolClient>) {
        const client = await pool.connect()
        try {
          await client.query('BEGIN')
          await complete(client, 'paid')
          await client.query('COMMIT')
        } finally {
          client.release(true)
        }
      },
    })
    {
      await using mill = await testMill({ jobs: [pays], store: fresh() })
      const job = await mill.enqueue(pays, null)
      await mill.drain()
      expect(await job.result()).toBe('paid')
    }
    {
      await using mill = await testMill({ jobs: [pays] })
      const { id } = await mill.enqueue(pays, null)
      await mill.drain()
      expect((await mill.get(id))?.error).toContain(
        'tx: is a PostgreSQL transaction, but this store is SQLite. Pass a better-sqlite3 database with an open transaction',
      )
    }
    await pool.end()
  })

  test('runs enqueued jobs without moving the clock', async () => {
    await using mill = await testMill({ jobs: [echo], store: fresh() })
    const before = mill.clock.now()
    const job = await mill.enqueue(echo, { n: 42 })
    expect(await job.result()).toBe(42)
    expect(await mill.get(job.id)).toMatchObject({ state: 'done', enqueuedAt: before, endedAt: before })
    expectEnqueued(mill, echo, { n: 42 })
    expectTypeOf(mill).toEqualTypeOf<TestMill<Tx>>()
  })

  test('retries after minutes of backoff, and runs a delayed job on time', async () => {
    await using mill = await testMill({ jobs: [flaky, echo], store: fresh() })
    const retried = await mill.enqueue(flaky, null)
    const delayed = await mill.enqueue(echo, { n: 1 }, { delay: 100 })
    await mill.clock.advance(99)
    expect(await mill.get(delayed.id)).toMatchObject({ state: 'scheduled' })
    await mill.clock.advance(1)
    expect(await mill.get(delayed.id)).toMatchObject({ state: 'done' })
    const before = mill.clock.now()
    await mill.drain({ scheduled: true })
    expect(await mill.get(retried.id)).toMatchObject({ state: 'done', attempt: 2 })
    expect(mill.clock.now() - before).toBe(180_000 - 100)
  })

  test('keeps its lease while minutes pass, and leaves no timer behind', async () => {
    const { job, entered, open } = gatedJob()
    const mill = await testMill({ jobs: [job], store: fresh() })
    const { id } = await mill.enqueue(job, null)
    const signal = await entered
    await mill.clock.advance('3m')
    expect(signal.aborted).toBe(false)
    expect(await mill.instances()).toMatchObject([{ state: 'alive' }])
    open('opened')
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', result: 'opened', crashes: 0 })
    await mill.stop()
    expect(mill.platform.pendingTimers).toBe(0)
  })

  test('recovers from lost claims and lost finishes, and writes each once', async () => {
    let faults: ReturnType<ReturnType<typeof fresh>> | undefined
    const store = fresh(false)
    await using mill = await testMill({ jobs: [echo], store: (platform) => (faults = store(platform)) })
    await mill.platform.settled()
    faults?.loseReply('claim')
    faults?.loseReply('enqueue')
    const first = await mill.enqueue(echo, { n: 7 })
    await mill.clock.advance('20s')
    expect(await mill.get(first.id)).toMatchObject({ state: 'done', attempt: 1, result: 7 })
    expect(await mill.history(first.id)).toHaveLength(1)
    expect(mill.events.map(({ type }) => type)).toContain('leases-found')
    faults?.loseReply('finish')
    const second = await mill.enqueue(echo, { n: 8 })
    await mill.drain()
    expect(await mill.history(second.id)).toHaveLength(1)
    expect(mill.events.filter(({ type }) => type === 'finished')).toHaveLength(2)
    expect(mill.enqueued()).toHaveLength(2)
  })

  test('works inline, and with a second mill on the same schema', async () => {
    const store = fresh()
    await using mill = await testMill({ jobs: [echo], store, inline: true })
    await using other = await testMill({ jobs: [echo], platform: mill.platform, store })
    const { id } = await mill.enqueue(echo, { n: 1 })
    const jobs = await mill.enqueueMany(
      echo,
      Array.from({ length: 30 }, (_, n) => ({ payload: { n } })),
    )
    expect(jobs).toHaveLength(30)
    expect(await other.get(id)).toMatchObject({ state: 'done' })
    expect((await other.counts())[0]).toMatchObject({ done: 31 })
  })
})
