// Group commit, and a write lock that another connection holds.
import { setImmediate as nextTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { assert, describe, expect, onTestFinished, test } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { defineJob, type JobContext } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import {
  aClaim,
  aJob,
  anInstance,
  aHeartbeat,
  aRetain,
  QUEUE,
  someJobs,
} from '../../../conformance/src/factories.ts'
import { testMill } from '../../src/testing/index.ts'
import { freshFile, openStore } from './support.ts'

describe('sqlite: group commit', () => {
  test('calls of one event loop turn share a transaction', async () => {
    const path = freshFile()
    const store = await openStore(path)
    await store.enqueue([aJob()])
    const watcher = new Database(path)
    const version = watcher.prepare('PRAGMA data_version').pluck()
    const versions = new Set([version.get()])
    const calls = Array.from({ length: 50 }, async () => {
      await store.enqueue([aJob()])
      versions.add(version.get())
    })
    await Promise.all(calls)
    // The number changes with every commit of another connection, and was read after each call.
    assert.equal(versions.size, 2)
    watcher.close()
  })

  test('a call that fails does not fail its neighbors', async () => {
    const store = await openStore()
    const [before, failed, after] = await Promise.allSettled([
      store.enqueue([aJob()]),
      store.queues.change('nobody', { settings: {}, coolMs: null }),
      store.enqueue([aJob()]),
    ])
    assert.equal(before.status, 'fulfilled')
    assert.equal(after.status, 'fulfilled')
    expect(failed).toMatchObject({ status: 'rejected', reason: { code: 'QUEUE_UNKNOWN' } })
    expect(await store.counts()).toMatchObject([{ ready: 2 }])
  })

  test('a long queue of calls does not block the event loop', async () => {
    const store = await openStore()
    let turns = 0
    const count = (): void => void ((turns += 1), setImmediate(count).unref())
    count()
    await Promise.all(
      Array.from({ length: 20 }, () => store.enqueue(someJobs(Array.from({ length: 500 }, () => ({}))))),
    )
    assert.isAbove(turns, 5)
  })

  test('close writes queued calls', async () => {
    const path = freshFile()
    const store = await openStore(path)
    const reply = store.enqueue([aJob()])
    await store.close()
    assert.equal((await reply)[0]?.outcome, 'enqueued')
    expect(await (await openStore(path)).counts()).toMatchObject([{ ready: 1 }])
  })
})

describe('sqlite: a write lock of another connection', () => {
  test('writes wait without blocking the event loop, and reads continue', async () => {
    const path = freshFile()
    const store = await openStore(path)
    const other = new Database(path)
    other.exec('BEGIN IMMEDIATE')
    const reply = store.enqueue([aJob()])
    // This event loop releases the lock: if the write blocked the loop, the lock would never be released.
    for (let turn = 0; turn < 50; turn += 1) await nextTurn()
    assert.deepEqual(await store.counts(), [])
    other.exec('COMMIT')
    assert.equal((await reply)[0]?.outcome, 'enqueued')
    other.close()
  })

  test('writes fail at the deadline, and nothing is written', async () => {
    const path = freshFile()
    const store = await openStore(path, { busyDeadline: 50 })
    const other = new Database(path)
    other.exec('BEGIN IMMEDIATE')
    await expect(store.enqueue([aJob()])).rejects.toMatchObject({ code: 'STORE_BUSY', retryable: true })
    other.exec('COMMIT')
    other.close()
    assert.deepEqual(await store.counts(), [])
    await store.enqueue([aJob()])
    expect(await store.counts()).toMatchObject([{ ready: 1 }])
  })

  test('an idle instance needs no lock', async () => {
    const path = freshFile()
    const store = await openStore(path, { busyDeadline: 50 })
    const [instance, leader] = [anInstance(), anInstance()]
    const duties = [{ name: 'schedule', succeededAgoMs: null, failures: 0 }]
    const slots = [{ instance: instance.id, queue: QUEUE, workers: 1 }]
    await store.instances.register(instance)
    await store.instances.register(leader)
    await store.instances.renew(aHeartbeat(leader.id, { duties }))
    await store.enqueue([aJob({ delay: '1h' })])
    await store.instances.assign(slots)
    const other = new Database(path)
    other.exec('BEGIN IMMEDIATE')
    assert.deepEqual(await store.claim(aClaim(instance.id)), [])
    for (const [id, leads] of [
      [instance.id, []],
      [leader.id, ['schedule']],
    ] as const)
      expect(await store.instances.renew(aHeartbeat(id, { duties }))).toMatchObject({ alive: true, leads })
    assert.equal((await store.stage(100)).ready, 0)
    assert.deepEqual((await store.instances.reap({ crashesUntilDead: 3, limit: 10 })).instances, [])
    assert.equal((await store.retain(aRetain())).jobs, 0)
    assert.equal(await store.metrics.rollUp(100), 0)
    assert.equal(await store.instances.assign(slots), 0)
    assert.equal(await store.fold(100), 0)
    other.exec('COMMIT')
    other.close()
  })

  test('a heartbeat that is not due needs the lock only to lead a duty without a leader', async () => {
    const path = freshFile()
    const store = await openStore(path, { busyDeadline: 50 })
    const instance = anInstance()
    await store.instances.register(instance)
    const duties = [{ name: 'schedule', succeededAgoMs: null, failures: 0 }]
    const other = new Database(path)
    other.exec('BEGIN IMMEDIATE')
    assert.deepEqual((await store.instances.renew(aHeartbeat(instance.id))).leads, [])
    await expect(store.instances.renew(aHeartbeat(instance.id, { duties }))).rejects.toMatchObject({
      code: 'STORE_BUSY',
    })
    other.exec('COMMIT')
    other.close()
    assert.deepEqual((await store.instances.renew(aHeartbeat(instance.id, { duties }))).leads, ['schedule'])
  })

  test('close does not wait for it', async () => {
    const path = freshFile()
    const store = await openStore(path)
    const other = new Database(path)
    other.exec('BEGIN IMMEDIATE')
    const [reply] = await Promise.allSettled([store.enqueue([aJob()]), store.close()])
    expect(reply).toMatchObject({ status: 'rejected', reason: { code: 'STORE_CLOSED' } })
    other.close()
  })
})

describe('sqlite: a trigger that refuses every outcome', () => {
  test.each([
    'INSERT ON jobmill_attempt',
    'UPDATE OF state ON jobmill_job WHEN OLD.state = 2',
    'INSERT ON jobmill_job WHEN NEW.tags IS NOT NULL',
  ])(
    'H2 P1 (%s) blames no job: none runs twice or is dead, and all outcomes are written once it is dropped',
    async (when) => {
      const path = freshFile()
      const runs: number[] = []
      const child = defineJob({ kind: 'child', run: () => {} })
      const parent = defineJob({
        kind: 'parent',
        maxAttempts: 2,
        run: async ({ payload, enqueue }: JobContext<number>) => {
          runs.push(payload)
          await enqueue(child, payload, { withCompletion: true, tags: ['followed'] })
          return { kept: payload }
        },
      })
      const mill = await testMill({ store: ({ now }) => sqlite(path, { clock: now }), jobs: [parent, child] })
      const other = new Database(path)
      onTestFinished(() => void other.close())
      onTestFinished(() => mill[Symbol.asyncDispose]())
      const jobs = await Promise.all(
        [1, 2, 3].map((payload) => mill.enqueue(parent, payload, { delay: '1s' })),
      )
      other.exec(
        `CREATE TRIGGER forgotten BEFORE ${when} BEGIN SELECT RAISE(ABORT, 'refused by a trigger'); END`,
      )
      await mill.clock.advance('30s')
      expect((await mill.list({ kind: 'parent' })).jobs.map(({ state }) => state)).not.toContain('dead')
      expect(mill.events.find(({ type }) => type === 'store-failing')).toMatchObject({
        error: { code: 'DATA_REFUSED' },
      })
      other.exec('DROP TRIGGER forgotten')
      await mill.clock.advance('10s')
      for (const [at, { id }] of jobs.entries())
        expect(await mill.get(id)).toMatchObject({ state: 'done', attempt: 1, result: { kept: at + 1 } })
      expect(runs.toSorted((a, b) => a - b)).toEqual([1, 2, 3])
      expect((await mill.list({ kind: 'child' })).jobs).toHaveLength(3)
    },
  )
})

/** A mill on a fake clock, and a second connection to its file. */
async function scene(queue = 'default') {
  const path = freshFile()
  const runs = new Map<number, number>()
  const count = (payload: number): void => void runs.set(payload, (runs.get(payload) ?? 0) + 1)
  const child = defineJob({ kind: 'child', run: () => {} })
  const keyed = defineJob({
    kind: 'keyed',
    queue,
    maxAttempts: 3,
    backoff: { fixed: '1s' },
    run: ({ payload }: JobContext<number>) => (count(payload), { kept: payload }),
  })
  const parent = defineJob({
    kind: 'parent',
    maxAttempts: 3,
    backoff: { fixed: '1s' },
    run: async ({ payload, enqueue }: JobContext<number>) => {
      count(payload)
      await enqueue(child, payload, { withCompletion: true, tags: [`of-${payload}`] })
    },
  })
  const plain = defineJob({ kind: 'plain', run: () => ({ kept: 0 }) })
  const mill = await testMill({
    store: ({ now }) => sqlite(path, { clock: now }),
    jobs: [keyed, plain, parent, child],
    limits: { gate: { concurrency: 10 } },
    queues: { limited: { limit: 'gate' } },
  })
  const other = new Database(path)
  onTestFinished(() => void other.close())
  onTestFinished(() => mill[Symbol.asyncDispose]())
  const refuse = (when: string) =>
    other.exec(
      `CREATE TRIGGER forgotten BEFORE ${when} BEGIN SELECT RAISE(ABORT, 'refused by a trigger'); END`,
    )
  return { mill, other, runs, refuse, keyed, plain, parent }
}

describe('sqlite: a trigger that refuses all outcomes of one shape', () => {
  test.each(inFull(['dedupe', 'order_lock', 'permit'] as const, ['order_lock'] as const))(
    'D1 H2 (rows of jobmill_%s) blames no job that has one, while jobs without one are done',
    async (table) => {
      const queue = table === 'permit' ? 'limited' : 'default'
      const { mill, other, runs, refuse, keyed, plain } = await scene(queue)
      refuse(`DELETE ON jobmill_${table}`)
      const ids: string[] = []
      for (const payload of [1, 2, 3]) {
        const key = String(payload)
        const options = { dedupe: { dedupeKey: key }, order_lock: { orderKey: key }, permit: {} }
        ids.push((await mill.enqueue(keyed, payload, options[table])).id)
      }
      for (let times = 0; times < 16; times += 1) {
        const { id } = await mill.enqueue(plain, null)
        await mill.clock.advance('2s')
        expect(await mill.get(id)).toMatchObject({ state: 'done' })
      }
      other.exec('DROP TRIGGER forgotten')
      await mill.clock.advance('5s')
      for (const [at, id] of ids.entries())
        expect(await mill.get(id)).toMatchObject({ state: 'done', attempt: 1, result: { kept: at + 1 } })
      expect([...runs.values()]).toEqual([1, 1, 1])
    },
  )

  test('D1 a job whose follow-ups are refused is settled within 20 s, alone and among steady ones', async () => {
    const { mill, runs, refuse, parent } = await scene()
    refuse(`INSERT ON jobmill_job WHEN NEW.tags IN ('["of-1"]', '["of-2"]')`)
    const refused = await mill.enqueue(parent, 1)
    await mill.clock.advance('20s')
    expect(runs.get(1)).toBeGreaterThan(1)
    await mill.clock.advance('1m')
    expect(await mill.get(refused.id)).toMatchObject({ state: 'dead', attempt: 3 })
    await mill.enqueue(parent, 2)
    for (let times = 0; times < 40; times += 1) {
      await mill.enqueue(parent, 30 + times)
      await mill.clock.advance('500ms')
    }
    expect(runs.get(2)).toBeGreaterThan(1)
  })
})

describe('sqlite: our rows and tables deleted by another program', () => {
  test.each([
    ['all rows', 'DELETE FROM', /internal rows of Jobmill were deleted.*restore a backup/],
    ['all tables', 'DROP TABLE', /Jobmill tables are missing.*restore a backup/],
  ])('H4 %s: every call says what is missing and how to fix it', async (_, statement, expected) => {
    const path = freshFile()
    const store = await openStore(path)
    await store.enqueue([aJob()])
    const other = new Database(path)
    // Jobs first: queues and kinds cannot be deleted while jobs refer to them.
    const tables = other.prepare(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'jobmill%'
        ORDER BY name <> 'jobmill_job'`,
    )
    for (const table of tables.pluck().all()) other.exec(`${statement} ${String(table)}`)
    other.close()
    for (const call of [() => store.enqueue([aJob()]), () => store.instances.register(anInstance())])
      await expect(call().then(() => 'nothing is wrong')).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringMatching(expected) as string,
      })
  })
})
