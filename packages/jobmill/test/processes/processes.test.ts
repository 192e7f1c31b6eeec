/**
 * Several real processes on one database: they start concurrently, work in parallel, and die. The same for
 * both stores.
 */
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test as testOnBoth } from 'vitest'
import { freshFile, freshSchema } from '../../../../test/support/databases.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { MIGRATIONS as POSTGRES_MIGRATIONS } from '../../src/store-postgres/schema/migrations.ts'
import { MIGRATIONS as SQLITE_MIGRATIONS } from '../../src/store-sqlite/schema/migrations.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aClaim, aJob, anInstance, QUEUE, someJobs } from '../../../conformance/src/factories.ts'
import { kill, type Started, startProcess } from './children.ts'
import { type Place, storeAt } from './place.ts'
import { EACH, type Task } from './store-process.ts'

const start = (place: Place, task: Task): Started => startProcess('store-process.ts', { place, task })

async function opened(place: Place): Promise<FullStore> {
  const store = await storeAt(place)
  await store.open()
  onTestFinished(() => store.close())
  return store
}

/** A pause between checks, because the working processes need the core and the database. */
const LOOK_EVERY_MS = 20

/** Calls until the expected answer comes. */
async function until<T>(call: () => Promise<T>, isIt: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await call()
    if (isIt(answer)) return answer
    await pause(LOOK_EVERY_MS)
  }
}

const places: [string, () => Place, (place: Place) => Promise<unknown[]>, number][] = [
  [
    'sqlite',
    () => ({ store: 'sqlite', at: freshFile() }),
    async ({ at }) => {
      const db = new Database(at)
      const rows = db.prepare('SELECT number FROM jobmill_migration').all()
      db.close()
      return rows
    },
    SQLITE_MIGRATIONS.length,
  ],
  [
    'postgres',
    () => ({
      store: 'postgres',
      at: inject('postgresUrl'),
      schema: freshSchema(inject('postgresUrl'), 'processes'),
    }),
    async ({ at, schema }) => {
      const client = new pg.Client({ connectionString: at })
      await client.connect()
      const { rows } = await client.query<object>(`SELECT number FROM ${schema ?? ''}.migration`)
      await client.end()
      return rows
    },
    POSTGRES_MIGRATIONS.length,
  ],
]

describe.each(places)('processes on %s', (on, fresh, migrationsIn, migrations) => {
  // For tests with a counterpart in the conformance suite, which has several handles in one process.
  const test = inTurns(
    on,
    places.map(([name]) => name),
  )

  testOnBoth(
    'many processes that start at once on a new database all open it, and migrate it once',
    async () => {
      const place = fresh()
      await Promise.all(Array.from({ length: inFull(20, 6) }, () => start(place, 'open').ended))
      expect(await migrationsIn(place)).toHaveLength(migrations)
    },
    60_000,
  )

  testOnBoth(
    'P2 P3 four processes run each job once and leave none',
    async () => {
      const place = fresh()
      const store = await opened(place)
      const workers = Array.from({ length: 4 }, () => start(place, 'enqueue-and-work'))
      await Promise.all(workers.map(({ ended }) => ended))
      const ids = workers.flatMap(({ messages }) => messages)
      expect(ids).not.toContain('refused')
      expect(new Set(ids).size).toBe(4 * EACH)
      expect(ids).toHaveLength(4 * EACH)
      expect(await store.counts()).toMatchObject([{ ready: 0, running: 0, done: 4 * EACH }])
    },
    60_000,
  )

  testOnBoth(
    'P1 P3 acknowledged jobs exist after kill -9',
    async () => {
      const place = fresh()
      const store = await opened(place)
      const producers = [start(place, 'enqueue-for-ever'), start(place, 'enqueue-for-ever')]
      await Promise.all(
        producers.map((producer) => producer.untilMessages((messages) => messages.length >= 20)),
      )
      await Promise.all(producers.map((producer) => kill(producer)))
      const ids = producers.flatMap(({ messages }) => messages)
      expect((await store.get(ids)).map((job) => job?.state)).toEqual(ids.map(() => 'ready'))
    },
    60_000,
  )

  test('P4 P3 another process runs the jobs of a killed process again, with a higher token', async () => {
    const place = fresh()
    const store = await opened(place)
    await store.enqueue(someJobs([{}, {}, {}]))
    const victim = start(place, 'claim-and-hang')
    await victim.untilMessages((messages) => messages.includes('hanging'))
    const held = await store.get(victim.messages.slice(0, 3))
    expect(held.map((job) => job?.state)).toEqual(['running', 'running', 'running'])
    await kill(victim)
    const reaped = await until(
      () => store.instances.reap({ crashesUntilDead: 3, limit: 10 }),
      ({ jobs }) => jobs.length > 0,
    )
    expect(reaped.jobs).toHaveLength(3)
    const me = anInstance()
    await store.instances.register(me)
    const leases = await store.claim(aClaim(me.id))
    expect(leases.map(({ id, attempt, crashes }) => [id, attempt, crashes])).toEqual(
      victim.messages.slice(0, 3).map((id) => [id, 1, 1]),
    )
  }, 60_000)

  testOnBoth(
    'an enqueue of another process wakes a waiting process',
    async () => {
      const place = fresh()
      const store = await opened(place)
      const wakeUps = store.notifier.wait({ queues: [QUEUE], timeoutMs: 50_000 })
      await start(place, 'enqueue-one').ended
      expect(await wakeUps).toMatchObject([{ queue: QUEUE, jobs: 1 }])
    },
    60_000,
  )

  test('a process without wake-ups finds jobs by polling', async () => {
    const place = fresh()
    const store = await opened(place)
    const me = anInstance({ leaseMs: 600_000 })
    await store.instances.register(me)
    const other = await storeAt(place)
    await other.open()
    const job = aJob({ delay: 20 })
    await other.enqueue([job])
    await other.close()
    const [lease] = await until(
      async () => {
        await store.stage(10)
        return store.claim(aClaim(me.id))
      },
      (leases) => leases.length > 0,
    )
    expect(lease?.id).toBe(job.id)
  }, 60_000)
})
