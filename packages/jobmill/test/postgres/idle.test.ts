/**
 * What an idle instance relies on while its heartbeat is slow: everything that another process leaves for it
 * is announced, and it knows whether notifications arrive.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { type PostgresServer, startPostgres } from '../../../../test/support/postgres/postgres-server.ts'
import { postgres, type Tx } from '../../src/postgres.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aDefinition, aJob, anInstance } from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')

async function opened(schema: string, notifier?: string | false, at = url): Promise<FullStore<Tx>> {
  const store: FullStore<Tx> = postgres(at, { schema, ...(notifier !== undefined && { notifier }) })
  await store.open()
  onTestFinished(() => store.close())
  return store
}

async function pair() {
  const schema = freshSchema(url, 'idle')
  const [here, there] = [await opened(schema), await opened(schema)]
  const untilEnd = async (): Promise<(number | null)[]> => {
    here.notifier.notify(['end'])
    const jobs: (number | null)[] = []
    for (let isOver = false; !isOver;) {
      const wakeUps = await there.notifier.wait({ queues: ['a', 'end'], timeoutMs: 15_000 })
      jobs.push(...wakeUps.filter(({ queue }) => queue === 'a').map((wakeUp) => wakeUp.jobs))
      isOver = wakeUps.some(({ queue }) => queue === 'end')
    }
    return jobs
  }
  /** The numbers of jobs that another process receives for queue `a`. */
  const received = async (act: () => Promise<unknown>): Promise<(number | null)[]> => {
    await untilEnd()
    await act()
    return untilEnd()
  }
  return { here, there, received }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => void setTimeout(resolve, 5))
}

const ordered = (overrides = {}) => aJob({ queue: 'a', orderKey: 'o', ...overrides })

describe('postgres: notifications for idle instances', () => {
  test('P15 a job that is due soon notifies, once for many; one that is due later does not', async () => {
    const { here, received } = await pair()
    expect(await received(() => here.enqueue([aJob({ queue: 'a', delay: '1m' })]))).toEqual([])
    const later = (await here.now()) + 60_000
    expect(await received(() => here.enqueue([aJob({ queue: 'a', runAt: later })]))).toEqual([])
    const many = async (): Promise<void> => {
      for (let n = 0; n < 5; n += 1) await here.enqueue([aJob({ queue: 'a', delay: 500 })])
    }
    expect(await received(many)).toEqual([0])
  })

  test('P15 a job that is due soon at an instant, or that replaces its holder, notifies', async () => {
    const { here, received } = await pair()
    const soon = (await here.now()) + 1_000
    expect(await received(() => here.enqueue([aJob({ queue: 'a', runAt: soon })]))).toEqual([0])
    const other = await pair()
    const dedupe = { key: 'k', onConflict: 'replace' } as const
    await other.here.enqueue([aJob({ queue: 'a', dedupe, delay: '1m' })])
    const again = aJob({ queue: 'a', dedupe, delay: 500 })
    expect(await other.received(() => other.here.enqueue([again]))).toEqual([0])
  })

  test('P15 a delayed job in a user transaction notifies after the commit, which may be late', async () => {
    const { here, received } = await pair()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    const write = async (): Promise<void> => {
      await client.query('BEGIN')
      await here.enqueue([aJob({ queue: 'a', delay: '1m' })], { tx: client })
      await client.query('COMMIT')
      // The process ends right after the commit.
      await here.close()
      await here.open()
    }
    expect(await received(write)).toEqual([0])
  })

  test.each(['cancel', 'delete'] as const)('P15 %s of a job with an order lock notifies', async (verb) => {
    const { here, received } = await pair()
    const first = ordered()
    await here.enqueue([first, ordered()])
    await here.stage(10)
    const end = () => (verb === 'cancel' ? here.cancel([first.id], 'why') : here.delete([first.id]))
    expect(await received(end)).toEqual([0])
  })

  test('P15 an instance that starts or stops notifies those of its queues', async () => {
    const { here, received } = await pair()
    const instance = anInstance({ queues: ['a'] })
    expect(await received(() => here.instances.register(instance))).toEqual([0])
    const other = await pair()
    await other.there.instances.register(instance)
    expect(await other.received(() => other.here.instances.deregister(instance.id))).toEqual([0])
  })

  test('P15 a new or changed schedule wakes all instances, because any may lead', async () => {
    const { here, there, received } = await pair()
    const definition = aDefinition()
    const declared = [{ name: 'd', version: 1, definition }]
    for (const act of [
      () => here.schedules.create('s', definition),
      () => here.schedules.change('s', { paused: true }),
      () => here.schedules.declare(declared),
    ]) {
      const waits = there.notifier.wait({ queues: ['a'], timeoutMs: 15_000 })
      await act()
      expect(await waits).toMatchObject([{ queue: 'a', jobs: null }])
    }
    expect(await received(() => here.schedules.declare(declared))).toEqual([])
  })

  test('P15 a store without a notifier notifies others, with the jobs of half a second in one message', async () => {
    const schema = freshSchema(url, 'idle')
    const [without, listening] = [await opened(schema, false), await opened(schema)]
    const wait = () => listening.notifier.wait({ queues: ['a'], timeoutMs: 15_000 })
    const first = wait()
    await without.enqueue([aJob({ queue: 'a' })])
    expect(await first).toMatchObject([{ jobs: 1 }])
    const second = wait()
    await without.enqueue([aJob({ queue: 'a' })])
    await without.enqueue([aJob({ queue: 'a' })])
    // The rest is sent at once.
    await without.close()
    expect(await second).toMatchObject([{ jobs: 2 }])
  })
})

describe('postgres: whether notifications arrive', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres({ binaries: 'current' })
  }, 60_000)
  afterAll(() => server.stop())

  test('P15 a store listens once its own notification has arrived, until its connection is lost', async () => {
    const store = await opened('lost', undefined, server.url)
    await until(() => store.notifier.isListening?.() === true)
    const waits = store.notifier.wait({ queues: ['a'], timeoutMs: 60_000 })
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    onTestFinished(() => client.end())
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'jobmill notifier'`,
    )
    expect(await waits).toEqual([])
    expect(store.notifier.isListening?.()).toBe(false)
    await until(() => store.notifier.isListening?.() === true)
  })

  test('P15 a store without a notifier does not listen, nor one whose notifications are dropped', async () => {
    const without = await opened('dropped', false, server.url)
    // A pooler would also accept LISTEN and deliver nothing.
    const elsewhere = new URL(server.url)
    elsewhere.pathname = '/template1'
    const deaf = await opened('dropped', elsewhere.href, server.url)
    const listening = await opened('dropped', undefined, server.url)
    await until(() => listening.notifier.isListening?.() === true)
    expect([without.notifier.isListening?.(), deaf.notifier.isListening?.()]).toEqual([false, false])
  })
})
