/** The side effects of a finish: follow-ups, and the cool-down of the queue. */
import assert from 'node:assert/strict'
import type { CoolDown } from 'jobmill/store'
import { QUEUE, aJob } from '../../factories.ts'
import { type Bench, DEAD, DONE, HOUR, aFinish, later } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, countsOf } from '../looks.ts'

async function cooling({ store }: Bench, queue: string = QUEUE): Promise<[number, number]> {
  const settings = (await store.queues.list()).find(({ name }) => name === queue)
  return [settings?.coolingMs ?? -1, settings?.throttles ?? -1]
}

/** One throttled attempt that requests this cool-down. */
async function throttled(t: Bench, cool: CoolDown): Promise<void> {
  const lease = await t.running()
  hasFields(await t.finish(lease, later(HOUR, { refund: true }), { outcome: 'throttled', cool }), {
    accepted: true,
  })
}

const curve: CoolDown = { baseMs: 1_000, maxMs: 5_000, quietMs: 60_000 }

export const finishEffectCases: readonly Case[] = [
  test('P3 follow-ups are enqueued with the finish, as with enqueue', async (t) => {
    const { store, running, finish, enqueue, jobIs } = t
    const holder = await enqueue({ dedupe: { key: 'k' } })
    const lease = await running()
    const followUps = [
      aJob({ payload: 1, queue: 'next' }),
      aJob({ delay: HOUR }),
      aJob({ dedupe: { key: 'k' } }),
      aJob({ dedupe: { key: 'k', onConflict: 'replace' }, payload: 'new' }),
      aJob({ orderKey: 'o' }),
    ]
    const reply = await finish(lease, DONE, { followUps })
    const outcomes = ['enqueued', 'enqueued', 'duplicate', 'replaced', 'enqueued'] as const
    const expected = outcomes.map((outcome, n) => ({
      id: outcome === 'enqueued' ? followUps[n]?.id : holder,
      outcome,
    }))
    assert.deepEqual(reply.followUps, expected)
    await jobIs(holder, { payload: '"new"' })
    assert.deepEqual(await countsOf(store), { done: 1, scheduled: 2, ready: 1 })
    assert.deepEqual(await countsOf(store, 'next'), { ready: 1 })
  }),
  test('a follow-up may take the dedupe key that its own job just freed', async ({ running, finish }) => {
    const lease = await running({ dedupe: { key: 'k' } })
    const followUp = aJob({ dedupe: { key: 'k' } })
    const reply = await finish(lease, DONE, { followUps: [followUp] })
    assert.deepEqual(reply.followUps, [{ id: followUp.id, outcome: 'enqueued' }])
    const holding = await running({ dedupe: { key: 'h', holdFor: HOUR } })
    const late = await finish(holding, DONE, { followUps: [aJob({ dedupe: { key: 'h' } })] })
    assert.deepEqual(late.followUps, [{ id: holding.id, outcome: 'duplicate' }])
  }),
  test('P11 a follow-up whose id exists is the same job', async ({ store, running, finish, enqueue }) => {
    const existing = await enqueue({ payload: 'first' })
    const lease = await running()
    const reply = await finish(lease, DONE, { followUps: [aJob({ id: existing, payload: 'again' })] })
    assert.deepEqual(reply.followUps, [{ id: existing, outcome: 'enqueued' }])
    assert.equal((await store.get([existing]))[0]?.payload, '"first"')
  }),
  test('P8 a finish that a cancel overrules enqueues no follow-up; done, and cancelled as requested, do', async (t) => {
    const { store, running, finish } = t
    const overruled = await running()
    await store.cancel([overruled.id], 'stop')
    const reply = await finish(overruled, DEAD, { outcome: 'failed', followUps: [aJob()] })
    assert.deepEqual([reply.accepted, reply.state, reply.followUps], [true, 'cancelled', []])
    for (const [transition, outcome] of [
      [DONE, 'returned'],
      [{ to: 'cancelled' }, 'cancelled'],
    ] as const) {
      const lease = await running()
      await store.cancel([lease.id], 'stop')
      const followUp = aJob({ queue: 'next' })
      hasFields(await finish(lease, transition, { outcome, followUps: [followUp] }), {
        followUps: [{ id: followUp.id, outcome: 'enqueued' }],
      })
    }
    assert.deepEqual(await countsOf(store, 'next'), { ready: 2 })
    assert.deepEqual(await countsOf(store), { done: 1, cancelled: 2 })
  }),
  test('P2 a refused finish enqueues no follow-up and starts no cool-down', async (t) => {
    const lease = await t.running()
    await t.finish(lease, { to: 'ready' })
    const followUp = aJob()
    await t.finish(lease, DONE, { followUps: [followUp], cool: { forMs: HOUR } })
    assert.deepEqual(await t.store.get([followUp.id]), [null])
    assert.deepEqual(await cooling(t), [0, 0])
  }),
  test('forMs cools down the queue of the job for that long, and never shortens a longer cool-down', async (t) => {
    await t.enqueue({ queue: 'other' })
    // These are claimed before the cool-down starts, because it blocks claims.
    const leases = await t.runningJobs(3)
    const expected = [5_000, 5_000, 9_000]
    for (const [n, forMs] of [5_000, 1_000, 9_000].entries()) {
      const lease = leases[n]
      assert.ok(lease)
      await t.finish(lease, DONE, { cool: { forMs } })
      assert.equal((await cooling(t))[0], expected[n])
    }
    t.clock.advance(8_999)
    assert.equal((await cooling(t))[0], 1)
    t.clock.advance(1)
    assert.equal((await cooling(t))[0], 0)
    assert.deepEqual(await cooling(t, 'other'), [0, 0])
  }),
  test('the longest forMs of a call counts, for each queue separately', async (t) => {
    const leases = [
      await t.running(),
      await t.running(),
      await t.running({ queue: 'b' }),
      await t.running({ queue: 'c' }),
    ]
    const wanted = [3_000, 7_000, 2_000]
    await t.store.finish(
      leases.map((lease, n) => {
        const forMs = wanted[n]
        return aFinish(lease, DONE, forMs === undefined ? {} : { cool: { forMs } })
      }),
    )
    const all = await Promise.all([QUEUE, 'b', 'c'].map(async (queue) => (await cooling(t, queue))[0]))
    assert.deepEqual(all, [7_000, 2_000, 0])
  }),
  test('the curve doubles per limiter event up to its maximum', async (t) => {
    for (const [n, ms] of [1_000, 2_000, 4_000, 5_000, 5_000].entries()) {
      await throttled(t, curve)
      assert.deepEqual(await cooling(t), [ms, n + 1])
      t.clock.advance(ms)
    }
  }),
  test('the curve counts events and not workers: nothing changes during a cool-down, and one call counts once', async (t) => {
    const leases = await t.runningJobs(4)
    const items = leases.map((lease) => aFinish(lease, later(HOUR), { outcome: 'throttled', cool: curve }))
    await t.store.finish(items.slice(0, 2))
    assert.deepEqual(await cooling(t), [1_000, 1])
    t.clock.advance(400)
    await t.store.finish(items.slice(2, 3))
    assert.deepEqual(await cooling(t), [600, 1])
    t.clock.advance(600)
    await t.store.finish(items.slice(3))
    assert.deepEqual(await cooling(t), [2_000, 2])
  }),
  test('the curve starts over after a quiet period', async (t) => {
    await throttled(t, curve)
    t.clock.advance(1_000)
    await throttled(t, curve)
    // This is long enough whether the quiet period counts from the event or from the end of its cool-down.
    t.clock.advance(2_000 + 60_000)
    await throttled(t, curve)
    assert.deepEqual(await cooling(t), [1_000, 1])
  }),
  test('P9 two handles see the same cool-down', async (t) => {
    const other = await t.another()
    await throttled(t, { forMs: 5_000 })
    await t.enqueue()
    t.clock.advance(4_999)
    assert.deepEqual((await other.queues.list())[0]?.coolingMs, 1)
  }),
  test('the curve reaches its longest cool-down from the smallest base', async (t) => {
    const { store, clock, running, finish } = t
    for (let event = 0; event < 34; event += 1) {
      const lease = await running()
      await finish(lease, DEAD, { cool: { baseMs: 1, maxMs: 240 * HOUR, quietMs: HOUR } })
      const [queue] = await store.queues.list()
      assert.equal(queue?.coolingMs, Math.min(2 ** event, 240 * HOUR))
      clock.advance(queue?.coolingMs ?? 0)
    }
  }),
]
