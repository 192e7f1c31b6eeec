/** The read side: get, results, history, counts. Listings are in list.ts. */
import assert from 'node:assert/strict'
import { JOB_STATES } from 'jobmill/store'
import { aFinish, aJob, DEAD, DONE, HOUR, later, RELEASED, rooms, someJobs } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { pluck } from '../looks.ts'

export const readCases: readonly Case[] = [
  test('get answers in the order requested, null for unknown, repeats included', async (t) => {
    const [one, two, unknown] = [await t.enqueue(), await t.enqueue(), aJob().id]
    const jobs = await t.store.get([two, unknown, one, two])
    assert.deepEqual(
      jobs.map((job) => job?.id ?? null),
      [two, null, one, two],
    )
    assert.deepEqual(await t.store.get([]), [])
  }),
  test('the history of an unknown job, and of one that never ran, is empty', async (t) => {
    assert.deepEqual(await t.store.history(aJob().id), [])
    assert.deepEqual(await t.store.history(await t.enqueue()), [])
  }),
  test('a job has the times and names of its state, and no others', async (t) => {
    const now = t.clock.now()
    const expected = {
      scheduled: [now + HOUR, null, null],
      ready: [null, null, null],
      running: [null, now, null],
      done: [null, null, now],
      dead: [null, null, now],
      cancelled: [null, null, now],
    }
    for (const state of JOB_STATES) {
      const { dueAt, startedAt, endedAt, instance, waitsForOrder } = await t.job(await t.jobIn(state))
      assert.deepEqual([dueAt, startedAt, endedAt], expected[state], state)
      assert.deepEqual([instance === null, waitsForOrder], [state !== 'running', false])
    }
  }),
  test('counts list every queue by name, with every state', async (t) => {
    assert.deepEqual(await t.store.counts(), [])
    for (const state of JOB_STATES) await t.jobIn(state, { queue: 'b' })
    await t.jobIn('ready', { queue: 'a' })
    const none = { scheduled: 0, ready: 0, running: 0, done: 0, dead: 0, cancelled: 0 }
    assert.deepEqual(await t.store.counts(), [
      { queue: 'a', ...none, ready: 1, oldestReadyMs: 0 },
      { queue: 'b', scheduled: 1, ready: 1, running: 1, done: 1, dead: 1, cancelled: 1, oldestReadyMs: 0 },
    ])
  }),
  test('counts include how long the oldest ready job has been ready', async (t) => {
    const oldest = async (): Promise<number | null | undefined> => (await t.store.counts())[0]?.oldestReadyMs
    await t.enqueue({ delay: 100 })
    assert.equal(await oldest(), null)
    t.clock.advance(300)
    await t.store.stage(10)
    t.clock.advance(20)
    assert.equal(await oldest(), 20)
    await t.enqueue({ priority: -1 })
    t.clock.advance(10)
    assert.equal(await oldest(), 30)
    const instance = await t.worker()
    const [better, lease] = await t.claim(instance, { limit: 2 })
    assert.ok(better && lease)
    assert.equal(await oldest(), null)
    t.clock.advance(5)
    await t.finish(lease, RELEASED)
    assert.equal(await oldest(), 35)
    await t.finish(await t.claimOne(instance), later(0))
    assert.equal(await oldest(), 0)
  }),
  test('P3 counts are exact after every kind of transition, before and after they are folded', async (t) => {
    const exact = async (): Promise<void> => {
      await t.countsAreExact()
      for (let pass = 0; pass < 100 && (await t.store.fold(7)) >= 7; pass += 1);
      await t.countsAreExact()
    }
    const dedupe = { key: 'k', onConflict: 'replace' } as const
    await t.store.enqueue(
      someJobs(Array.from({ length: 20 }, (_, n) => ({ queue: `q${n % 2}`, delay: n % 4 }))),
    )
    await exact()
    t.clock.advance(5)
    await t.store.stage(10)
    await t.store.stage(10)
    await exact()
    const instance = await t.worker()
    const leases = await t.claim(instance, { queues: rooms({ q0: 10, q1: 10 }), limit: 15 })
    await exact()
    const ends = [DONE, DEAD, { to: 'cancelled' }, RELEASED, later(0), later(HOUR)] as const
    await t.store.finish(
      leases.slice(0, 12).map((lease, n) => aFinish(lease, ends[n % 6] ?? DONE, { followUps: [aJob()] })),
    )
    await exact()
    await t.store.enqueue([aJob({ dedupe }), aJob({ dedupe, delay: HOUR }), aJob({ dedupe })])
    await t.enqueue({ orderKey: 'o' })
    await t.store.stage(10)
    await exact()
    const ids = [...pluck(leases, 'id'), await t.jobIn('dead'), await t.jobIn('scheduled')]
    await t.store.cancel(ids.slice(0, 9), 'no')
    await t.store.runNow(ids)
    await t.store.retry(ids)
    await t.store.delete(ids.slice(4, 8))
    await exact()
    await t.crash(1)
    await exact()
    t.clock.advance(365 * 24 * HOUR)
    await t.retain({ limit: 3 })
    await t.retain({ limit: 1_000 })
    await exact()
  }),
  test('fold changes no count, even concurrently from several handles and with writes', async (t) => {
    const other = await t.another()
    for (let n = 0; n < 30; n += 1) await t.enqueue({ queue: `q${n % 3}` })
    const adds = Array.from({ length: 10 }, () => t.enqueue({ queue: 'q0' }))
    await Promise.all([t.store.fold(1_000), other.fold(1_000), t.store.fold(5), ...adds])
    await t.countsAre({ ready: 20 }, 'q0')
    await t.countsAreExact()
    await t.store.fold(1_000)
    assert.equal(await t.store.fold(1_000), 0)
    await t.countsAreExact()
  }),
  test('results come in the order requested, null for unknown, repeats included', async (t) => {
    const [one, two, gone] = [await t.jobIn('done'), await t.enqueue(), await t.jobIn('dead')]
    const line = await t.enqueue({ orderKey: 'o' })
    await t.store.delete([gone])
    const results = await t.store.results([two, aJob().id, one, gone, line, two])
    assert.deepEqual(
      results.map((job) => (job === null ? null : [job.id, job.state])),
      [[two, 'ready'], null, [one, 'done'], null, [line, 'scheduled'], [two, 'ready']],
    )
    assert.deepEqual(await t.store.results([]), [])
  }),
  test('results match get for a job in every state', async (t) => {
    const ids = await Promise.all(JOB_STATES.map((state) => t.jobIn(state)))
    const [odd, failed, again, kept, crashed] = await t.runningJobs(5)
    await t.finish(odd, DONE, { error: 'not JSON' })
    await t.finish(failed, later(HOUR), { error: 'why' })
    await t.finish(again, later(0), { error: 'first' })
    await t.finish(await t.claimAgain(again), { to: 'done', result: '[1]' })
    await t.finish(kept, later(0), { error: 'first' })
    await t.finish(await t.claimAgain(kept), later(0), { error: 'last' })
    await t.claimAgain(kept)
    const all = [...ids, ...pluck([odd, failed, again, kept, crashed], 'id')]
    const same = async (): Promise<unknown[]> => {
      const results = await t.store.results(all)
      for (const [n, id] of all.entries()) await t.jobIs(id, results[n] ?? {})
      return results.slice(JOB_STATES.length).map((job) => [job?.state, job?.result, job?.error])
    }
    assert.deepEqual(await same(), [
      ['done', null, 'not JSON'],
      ['scheduled', null, 'why'],
      ['done', '[1]', null],
      ['running', null, 'last'],
      ['running', null, null],
    ])
    await t.crash(1)
    await t.store.retry([crashed.id])
    assert.deepEqual((await same()).at(-1), [
      'ready',
      null,
      'its process crashed or stopped responding (crash 1)',
    ])
  }),
]
