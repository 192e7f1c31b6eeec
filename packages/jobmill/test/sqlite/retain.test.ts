// Retention by number reads the count rows, which are written at the end of a transaction: changes of other
// verbs in the same one must be counted too.
import Database from 'better-sqlite3'
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import type { Finish } from '../../src/store/types/finish.ts'
import { NOTHING_RETAINED } from '../../src/store/types/replies.ts'
import type { FullStore } from '../../src/store/store.ts'
import { postgres } from '../../src/postgres.ts'
import { aClaim, anInstance, aRetain, QUEUE, someJobs } from '../../../conformance/src/factories.ts'
import { retainAll } from '../../src/upkeep/retain.ts'
import { freshFile, openStore } from './support.ts'

const KEEP = 5
const done = ({ id, token }: Lease): Finish => ({
  id,
  token,
  outcome: 'returned',
  transition: { to: 'done', result: null },
})

/**
 * A queue that keeps five done jobs, with the given number of running ones, each claimed a millisecond after
 * the previous one.
 */
async function running(jobs: number): Promise<{ store: FullStore; leases: Lease[]; tick: () => void }> {
  let now = 1_000_000
  const store = await openStore(freshFile(), { clock: () => now })
  await store.queues.declare([{ name: QUEUE, settings: { ...DEFAULT_QUEUE_SETTINGS, keepDone: KEEP } }])
  const instance = anInstance()
  await store.instances.register(instance)
  await store.enqueue(someJobs(Array.from({ length: jobs }, () => ({}))))
  return { store, leases: await store.claim(aClaim(instance.id)), tick: () => void (now += 1) }
}

describe('sqlite: retention by number', () => {
  test('works with finishes in the same transaction', async () => {
    const { store, leases } = await running(8)
    await Promise.all([store.finish(leases.map(done)), store.retain(aRetain())])
    expect(await store.counts()).toMatchObject([{ done: KEEP }])
  })

  test('with deletes in the same transaction deletes no job too many, and keeps the newest', async () => {
    const { store, leases, tick } = await running(8)
    for (const lease of leases) {
      tick()
      await store.finish([done(lease)])
    }
    const ids = leases.map(({ id }) => id)
    const [, retained] = await Promise.all([store.delete(ids.slice(6)), store.retain(aRetain())])
    expect(retained).toMatchObject({ jobs: 1, more: false })
    expect((await store.get(ids)).map((job) => job !== null)).toEqual(ids.map((_, at) => at >= 1 && at < 6))
  })

  test('deletes many jobs in several passes', async () => {
    const { store, leases } = await running(50)
    await store.finish(leases.map(done))
    const passes = []
    for (let more = true; more;) {
      const pass = await store.retain(aRetain({ limit: 20 }))
      passes.push(pass.jobs)
      more = pass.more
    }
    expect(passes).toEqual([20, 20, 5])
  })
})

/** A store on a database that refuses to delete jobs of the queue `stuck`. */
const REFUSING = {
  async sqlite(clock: () => number): Promise<FullStore> {
    const file = freshFile()
    const store = await openStore(file, { clock })
    await store.queues.declare([{ name: 'stuck', settings: DEFAULT_QUEUE_SETTINGS }])
    const database = new Database(file)
    database.exec(`CREATE TRIGGER refuse BEFORE DELETE ON jobmill_job
      WHEN OLD.queue_id = (SELECT id FROM jobmill_queue WHERE name = 'stuck') BEGIN SELECT RAISE(ABORT, 'refused here'); END`)
    database.close()
    return store
  },
  async postgres(clock: () => number): Promise<FullStore> {
    const url = inject('postgresUrl')
    const schema = freshSchema(url, 'retain')
    const store: FullStore = postgres(url, { schema, clock })
    await store.open()
    onTestFinished(() => store.close())
    await store.queues.declare([{ name: 'stuck', settings: DEFAULT_QUEUE_SETTINGS }])
    const client = new pg.Client(url)
    await client.connect()
    await client.query(`CREATE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF OLD.queue_id = (SELECT id FROM ${schema}.queue WHERE name = 'stuck') THEN RAISE EXCEPTION 'refused here' USING ERRCODE = '23514'; END IF;
        RETURN OLD; END $$;
      CREATE TRIGGER refuse BEFORE DELETE ON ${schema}.attempt FOR EACH ROW EXECUTE FUNCTION ${schema}.refuse()`)
    await client.end()
    return store
  },
}

test.each(['sqlite', 'postgres'] as const)(
  'A on %s a queue whose jobs cannot be deleted does not block the retention of others, and is named',
  async (name) => {
    let now = 1_000_000
    const store = await REFUSING[name](() => now)
    const instance = anInstance()
    await store.instances.register(instance)
    for (const queue of ['a', 'stuck', 'z']) {
      await store.queues.declare([{ name: queue, settings: DEFAULT_QUEUE_SETTINGS }])
      await store.enqueue(someJobs([{ queue }]))
      const [lease] = await store.claim(aClaim(instance.id, { queues: [{ queue, room: 1 }] }))
      if (lease !== undefined) await store.finish([done(lease)])
    }
    now += 8 * 86_400_000
    const { limit: _limit, ...ages } = aRetain()
    const partly: object[] = []
    const failed = await retainAll(
      store,
      ages,
      new AbortController().signal,
      (counts) => void partly.push(counts),
    ).catch((error: unknown) => error)
    expect(failed).toMatchObject({
      message: expect.stringContaining('retention of queue "stuck" failed') as string,
    })
    expect(String((failed as Error).cause)).toContain('refused here')
    expect(partly).toMatchObject([{ jobs: 2, done: 2, dead: 0, cancelled: 0 }])
    expect(
      (await store.counts()).map(({ queue, done: left }) => [queue, left]).filter(([, n]) => n !== 0),
    ).toEqual([['stuck', 1]])
  },
)

test.each([
  { store: 'that names no size', retainBatch: undefined, limit: 500 },
  { store: 'that names one', retainBatch: 2_000, limit: 2_000 },
])('a pass on a store $store deletes $limit jobs a call', async ({ retainBatch, limit }) => {
  const limits: number[] = []
  const store = {
    queues: {} as Parameters<typeof retainAll>[0]['queues'],
    ...(retainBatch !== undefined && { retainBatch }),
    async retain(request: { readonly limit: number }) {
      limits.push(request.limit)
      return { ...NOTHING_RETAINED, more: limits.length < 2 }
    },
  }
  const { limit: _limit, ...ages } = aRetain()
  await retainAll(store, ages, new AbortController().signal)
  expect(limits).toEqual([limit, limit])
  expect(postgres('postgres://localhost/x').retainBatch).toBe(4_000)
})

test('sqlite: retention forgets groups that were not used for two days, except changed ones', async () => {
  let now = 1_000_000
  const file = freshFile()
  const store = await openStore(file, { clock: () => now })
  await store.queues.declare([{ name: QUEUE, settings: { groupFair: true } }])
  const instance = anInstance({ leaseMs: 100 * 3_600_000 })
  await store.instances.register(instance)
  await store.groups.change(QUEUE, 'changed', { weight: 2 })
  await store.enqueue(someJobs([{ group: 'old' }, { group: 'changed' }]))
  await store.finish((await store.claim(aClaim(instance.id))).map(done))
  const reader = new Database(file, { readonly: true })
  onTestFinished(() => void reader.close())
  const names = (): unknown[] => reader.prepare('SELECT name FROM jobmill_group ORDER BY name').pluck().all()
  await store.stage(10)
  await store.retain(aRetain())
  expect(names()).toEqual(['changed', 'old'])
  now += 48 * 3_600_000
  await store.retain(aRetain())
  expect(names()).toEqual(['changed'])
})
