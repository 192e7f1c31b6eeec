/** The read side: get, history, counts. Listings are in list.ts. */
import assert from 'node:assert/strict'
import { JOB_STATES } from 'jobmill/store'
import { aJob, aRetain, someJobs } from '../../factories.ts'
import { DEAD, DONE, HOUR, RELEASED, aFinish, later } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { countsAreExact, countsOf } from '../looks.ts'

export const readCases: readonly Case[] = [
  test('get answers in the order requested, null for unknown, repeats included', async (t) => {
    const { store, enqueue } = t
    const [one, two, unknown] = [await enqueue(), await enqueue(), aJob().id]
    const jobs = await store.get([two, unknown, one, two])
    assert.deepEqual(
      jobs.map((job) => job?.id ?? null),
      [two, null, one, two],
    )
    assert.deepEqual(await store.get([]), [])
  }),
  test('the history of an unknown job, and of one that never ran, is empty', async ({ store, enqueue }) => {
    assert.deepEqual(await store.history(aJob().id), [])
    assert.deepEqual(await store.history(await enqueue()), [])
  }),
  test('a job has the times and names of its state, and no others', async ({ clock, jobIn, job }) => {
    const now = clock.now()
    const expected = {
      scheduled: [now + HOUR, null, null],
      ready: [null, null, null],
      running: [null, now, null],
      done: [null, null, now],
      dead: [null, null, now],
      cancelled: [null, null, now],
    }
    for (const state of JOB_STATES) {
      const { dueAt, startedAt, endedAt, instance, waitsForOrder } = await job(await jobIn(state))
      assert.deepEqual([dueAt, startedAt, endedAt], expected[state], state)
      assert.deepEqual([instance === null, waitsForOrder], [state !== 'running', false])
    }
  }),
  test('counts list every queue by name, with every state', async ({ store, jobIn }) => {
    assert.deepEqual(await store.counts(), [])
    for (const state of JOB_STATES) await jobIn(state, { queue: 'b' })
    await jobIn('ready', { queue: 'a' })
    const none = { scheduled: 0, ready: 0, running: 0, done: 0, dead: 0, cancelled: 0 }
    assert.deepEqual(await store.counts(), [
      { queue: 'a', ...none, ready: 1, oldestReadyMs: 0 },
      { queue: 'b', scheduled: 1, ready: 1, running: 1, done: 1, dead: 1, cancelled: 1, oldestReadyMs: 0 },
    ])
  }),
  test('counts include how long the oldest ready job has been ready', async (t) => {
    const { store, clock, enqueue, worker, claim, claimOne, finish } = t
    const oldest = async (): Promise<number | null | undefined> => (await store.counts())[0]?.oldestReadyMs
    await enqueue({ delay: 100 })
    assert.equal(await oldest(), null)
    clock.advance(300)
    await store.stage(10)
    clock.advance(20)
    assert.equal(await oldest(), 20)
    await enqueue({ priority: -1 })
    clock.advance(10)
    assert.equal(await oldest(), 30)
    const instance = await worker()
    const [better, lease] = await claim(instance, { limit: 2 })
    assert.ok(better && lease)
    assert.equal(await oldest(), null)
    clock.advance(5)
    await finish(lease, RELEASED)
    assert.equal(await oldest(), 35)
    await finish(await claimOne(instance), later(0))
    assert.equal(await oldest(), 0)
  }),
  test('P3 counts are exact after every kind of transition, before and after they are folded', async (t) => {
    const { store, clock, worker, claim, enqueue, jobIn, crash } = t
    const exact = async (): Promise<void> => {
      await countsAreExact(store)
      for (let pass = 0; pass < 100 && (await store.fold(7)) >= 7; pass += 1);
      await countsAreExact(store)
    }
    const dedupe = { key: 'k', onConflict: 'replace' } as const
    await store.enqueue(
      someJobs(Array.from({ length: 20 }, (_, n) => ({ queue: `q${n % 2}`, delay: n % 4 }))),
    )
    await exact()
    clock.advance(5)
    await store.stage(10)
    await store.stage(10)
    await exact()
    const instance = await worker()
    const queues = ['q0', 'q1'].map((queue) => ({ queue, room: 10 }))
    const leases = await claim(instance, { queues, limit: 15 })
    await exact()
    const ends = [DONE, DEAD, { to: 'cancelled' }, RELEASED, later(0), later(HOUR)] as const
    await store.finish(
      leases.slice(0, 12).map((lease, n) => aFinish(lease, ends[n % 6] ?? DONE, { followUps: [aJob()] })),
    )
    await exact()
    await store.enqueue([aJob({ dedupe }), aJob({ dedupe, delay: HOUR }), aJob({ dedupe })])
    await enqueue({ orderKey: 'o' })
    await store.stage(10)
    await exact()
    const ids = [...leases.map(({ id }) => id), await jobIn('dead'), await jobIn('scheduled')]
    await store.cancel(ids.slice(0, 9), 'no')
    await store.runNow(ids)
    await store.retry(ids)
    await store.delete(ids.slice(4, 8))
    await exact()
    await crash(1)
    await exact()
    clock.advance(365 * 24 * HOUR)
    await store.retain(aRetain({ limit: 3 }))
    await store.retain(aRetain({ limit: 1_000 }))
    await exact()
  }),
  test('fold changes no count, even concurrently from several handles and with writes', async (t) => {
    const { store, another, enqueue } = t
    const other = await another()
    for (let n = 0; n < 30; n += 1) await enqueue({ queue: `q${n % 3}` })
    const adds = Array.from({ length: 10 }, () => enqueue({ queue: 'q0' }))
    await Promise.all([store.fold(1_000), other.fold(1_000), store.fold(5), ...adds])
    assert.deepEqual(await countsOf(store, 'q0'), { ready: 20 })
    await countsAreExact(store)
    await store.fold(1_000)
    assert.equal(await store.fold(1_000), 0)
    await countsAreExact(store)
  }),
]
