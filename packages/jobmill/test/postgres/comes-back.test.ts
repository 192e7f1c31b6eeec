/** What a PostgreSQL server can do to its clients, on a server of this file's own: restart, kill, drop, stall. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../../test/support/postgres-server.ts'
import { enqueuer } from '../../src/enqueue/enqueuer.ts'
import { isJobmillError } from '../../src/job/errors.ts'
import { postgres } from '../../src/postgres.ts'
import { forEverybody } from '../../src/store/rung.ts'
import type { Store } from '../../src/store/store.ts'
import { aClaim, aJob, anInstance, KIND, QUEUE } from '../../src/testing/factories.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ binaries: 'current' })
})
afterAll(() => server.stop())

async function withStore<T>(schema: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = postgres(server.url, { schema })
  await store.open()
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Ends every connection of ours from the server's side. */
async function dropConnections(): Promise<void> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'jobmill%'`,
  )
  await client.end()
}

/** Calls until it succeeds; each failure must be one that says it may be tried again. */
async function eventually<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!isJobmillError(error) || !error.retryable) throw error
    }
  }
}

describe('postgres comes back', () => {
  test('P16 after every connection was dropped, the next calls work and the process lives', () =>
    withStore('dropped', async (store) => {
      await store.enqueue([aJob()])
      await dropConnections()
      await eventually(() => store.counts())
      await eventually(() => store.enqueue([aJob()], { mayRepeat: true }))
      expect((await store.counts())[0]).toMatchObject({ ready: 2 })
    }))

  test('P16 after a restart of the server, and after its crash, every verb goes on', () =>
    withStore('restarted', async (store) => {
      const me = anInstance({ leaseMs: 600_000 })
      await store.register(me)
      const job = aJob()
      await store.enqueue([job])
      await server.restart()
      const [lease] = await eventually(() => store.claim(aClaim(me.id)))
      expect(lease?.id).toBe(job.id)
      await server.kill()
      await expect(store.counts()).rejects.toMatchObject({ retryable: true })
      await server.restart()
      const finish = {
        id: job.id,
        token: lease?.token ?? 0,
        outcome: 'returned',
        transition: { to: 'done', result: null },
      } as const
      expect(await eventually(() => store.finish([finish]))).toMatchObject([
        { accepted: true, state: 'done' },
      ])
    }))

  test('P16 whoever waits is woken again once the doorbell has reconnected', async () => {
    const there = postgres(server.url, { schema: 'doorbell' })
    const here = postgres(server.url, { schema: 'doorbell' })
    await there.open()
    await here.open()
    try {
      await dropConnections()
      const woken = here.wait({ queues: [QUEUE], timeoutMs: 20_000 })
      // Reconnecting wakes by itself, because a ring may have been missed; from then on rings arrive.
      expect(await woken).toEqual([forEverybody(QUEUE)])
      const again = here.wait({ queues: [QUEUE], timeoutMs: 20_000 })
      await eventually(() => there.enqueue([aJob()], { mayRepeat: true }))
      expect(await again).toMatchObject([{ queue: QUEUE, jobs: 1, skip: 0, passes: true }])
    } finally {
      await there.close()
      await here.close()
    }
  })

  test('P11 P1 P3 enqueues that lose their answer to dropped connections make each job exactly once', () =>
    withStore('unknown', async (store) => {
      const { enqueue } = enqueuer(store)
      const ids: string[] = []
      const drops: Promise<void>[] = []
      const producers = Array.from({ length: 8 }, async (_, producer) => {
        for (let n = 0; n < 25; n += 1) {
          const [reply] = await eventually(() => enqueue([{ kind: KIND, payload: { producer, n } }]))
          // While seven others have a write on its way.
          if (reply !== undefined && ids.push(reply.id) % 5 === 0) drops.push(dropConnections())
        }
      })
      await Promise.all(producers)
      await Promise.all(drops)
      const jobs = await eventually(() => store.get(ids))
      expect(jobs.filter((job) => job === null)).toEqual([])
      const payloads = new Set(jobs.map((job) => job?.payload))
      expect(payloads.size).toBe(200)
      expect((await eventually(() => store.counts()))[0]?.ready).toBe(200)
    }))

  test('P16 a statement that gets no answer in time has an unknown outcome, and its connection is given up', async () => {
    const holder = new pg.Client({ connectionString: server.url })
    await holder.connect()
    // Made with all the time that it needs on a busy machine.
    await withStore('stalled', async () => {})
    const store = postgres(server.url, { schema: 'stalled', deadline: '2s', doorbell: false })
    await store.open()
    try {
      await store.enqueue([aJob()])
      await holder.query('BEGIN; LOCK TABLE stalled.job IN ACCESS EXCLUSIVE MODE')
      await expect(store.enqueue([aJob()])).rejects.toMatchObject({
        code: 'OUTCOME_UNKNOWN',
        retryable: true,
      })
      await holder.query('ROLLBACK')
      await eventually(() => store.counts())
    } finally {
      await holder.end()
      await store.close()
    }
  })

  test('a server that cannot be reached is told as such, and open can be called again', async () => {
    const store = postgres(server.url, { schema: 'later', doorbell: false })
    await server.kill()
    await expect(store.open()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await server.restart()
    await eventually(() => store.open())
    await store.enqueue([aJob()])
    await store.close()
  })

  test('a default isolation level other than READ COMMITTED changes nothing', async () => {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    await client.query(`ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'`)
    await client.end()
    try {
      await withStore('serializable', async (store) => {
        const others = Array.from({ length: 20 }, () => aJob({ dedupe: { key: 'same' } }))
        const replies = await Promise.all(others.map((job) => store.enqueue([job])))
        expect(replies.flat().filter(({ outcome }) => outcome === 'enqueued')).toHaveLength(1)
      })
    } finally {
      const undo = new pg.Client({ connectionString: server.url })
      await undo.connect()
      await undo.query(`ALTER DATABASE postgres RESET default_transaction_isolation`)
      await undo.end()
    }
  })
})
