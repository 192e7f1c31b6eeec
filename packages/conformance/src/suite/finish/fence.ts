/**
 * The fence: writes with a stale token change nothing, and a repeated finish is recognized as written. The
 * side effects of a finish: follow-ups, and the cool-down of the queue.
 */
import assert from 'node:assert/strict'
import type { CoolDown, Finish } from 'jobmill/store'
import { aFinish, aJob, DEAD, DONE, FORGET, HOUR, later, QUEUE, RELEASED } from '../../factories.ts'
import type { Bench } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { enqueued, pluck, repeat } from '../looks.ts'

const refused = (id: string): object => ({ id, accepted: false, state: null, followUps: [] })

async function cooling({ store }: Bench, queue: string = QUEUE): Promise<[number, number]> {
  const settings = (await store.queues.list()).find(({ name }) => name === queue)
  return [settings?.coolingMs ?? -1, settings?.throttles ?? -1]
}

/** One throttled attempt that requests this cool-down. */
async function throttled(t: Bench, cool: CoolDown): Promise<void> {
  const lease = await t.running()
  const reply = await t.finish(lease, later(HOUR, { refund: true }), { outcome: 'throttled', cool })
  assert.equal(reply.accepted, true)
}

const curve: CoolDown = { baseMs: 1_000, maxMs: 5_000, quietMs: 60_000 }

export const fenceCases: readonly Case[] = [
  test('P2 a result from a reaped lease is refused and changes nothing', async (t) => {
    const stale = await t.running()
    await t.crash()
    const more = { cool: { forMs: HOUR }, followUps: [aJob()] }
    assert.deepEqual(await t.changesNothing(() => t.finish(stale, DONE, more)), refused(stale.id))
    const current = await t.claimAgain(stale)
    assert.deepEqual(await t.changesNothing(() => t.finish(stale, DONE, more)), refused(stale.id))
    assert.equal((await t.store.queues.list())[0]?.coolingMs, 0)
    assert.equal((await t.finish(current, DONE)).accepted, true)
  }),
  test('P2 a result from a released lease is refused and changes nothing', async (t) => {
    const [released, left] = await t.runningJobs(2)
    await t.finish(released, RELEASED)
    await t.store.instances.deregister(left.instance)
    const more = { followUps: [aJob()], cool: { forMs: HOUR } }
    for (const stale of [released, left]) {
      for (const transition of [DONE, DEAD, RELEASED, later(5)])
        assert.deepEqual(await t.changesNothing(() => t.finish(stale, transition, more)), refused(stale.id))
      assert.deepEqual(await t.changesNothing(() => t.finish(stale, RELEASED)), refused(stale.id))
    }
    assert.deepEqual(await cooling(t), [0, 0])
  }),
  test('P2 only a write of finish can be repeated: an attempt recorded otherwise leaves its lease stale', async (t) => {
    const [stopped, reaped] = [await t.running(), await t.running()]
    await t.store.cancel([stopped.id], 'stop it')
    await t.store.instances.deregister(stopped.instance)
    await t.crash()
    for (const stale of [stopped, reaped]) {
      assert.equal((await t.store.history(stale.id)).length, 1)
      const reply = await t.changesNothing(() => t.finish(stale, RELEASED, { outcome: 'interrupted' }))
      assert.deepEqual(reply, refused(stale.id))
    }
    const lease = await t.running()
    assert.equal((await t.finish(lease, RELEASED, { outcome: 'interrupted' })).accepted, true)
    const again = await t.changesNothing(() => t.finish(lease, RELEASED, { outcome: 'interrupted' }))
    assert.deepEqual([again.accepted, again.state], [true, 'ready'])
  }),
  test('P2 the attempt number is not the fence: a refunded attempt makes it repeat', async (t) => {
    const stale = await t.running()
    await t.finish(stale, RELEASED)
    const current = await t.claimAgain(stale)
    assert.equal(current.attempt, stale.attempt)
    assert.equal((await t.finish(stale, DONE)).accepted, false)
    assert.equal((await t.finish(current, DONE)).accepted, true)
  }),
  test('P2 a waiting job, an unknown job, and a token of another job are refused', async (t) => {
    const [lease, other] = [await t.running(), await t.running()]
    const waiting = await t.enqueue()
    for (const id of [waiting, other.id, aJob().id]) {
      assert.deepEqual(await t.changesNothing(() => t.finish({ ...lease, id }, DONE)), refused(id))
    }
  }),
  test('P8 a forced cancel is recorded even when the handler never started, so that its repeat is accepted', async (t) => {
    const lease = await t.running()
    await t.store.cancel([lease.id], 'stop it')
    assert.equal((await t.finish(lease, RELEASED)).state, 'cancelled')
    await t.historyIs(lease.id, [['cancelled', 'stop it']])
    const again = await t.changesNothing(() => t.finish(lease, RELEASED))
    assert.deepEqual([again.accepted, again.state], [true, 'cancelled'])
  }),
  test('P3 P11 a repeated finish is accepted and writes nothing', async (t) => {
    const transitions = [DONE, DEAD, { to: 'cancelled' }, later(0), later(HOUR)] as const
    for (const transition of transitions) {
      const lease = await t.running()
      const more: Partial<Finish> = { followUps: [aJob()], cool: curve, error: 'why' }
      const first = await t.finish(lease, transition, more)
      const queues = await t.store.queues.list()
      const again = await t.changesNothing(() => t.finish(lease, transition, more))
      assert.deepEqual([again.accepted, again.state], [true, first.state])
      assert.deepEqual(await t.store.queues.list(), queues)
      await t.store.queues.change('default', { settings: {}, coolMs: 0 })
    }
  }),
  test('P3 a deleted follow-up is not enqueued again by a repeated finish', async (t) => {
    const lease = await t.running()
    const followUp = aJob()
    await t.finish(lease, DONE, { followUps: [followUp] })
    await t.store.delete([followUp.id])
    assert.equal((await t.finish(lease, DONE, { followUps: [followUp] })).accepted, true)
    assert.deepEqual(await t.store.get([followUp.id]), [null])
  }),
  test('P3 a repeat reports where the attempt went even if the job has moved on; a deleted job refuses it', async (t) => {
    const lease = await t.running()
    await t.finish(lease, later(0))
    const next = await t.claimAgain(lease)
    const repeat = { id: lease.id, accepted: true, state: 'ready', followUps: [], again: true }
    assert.deepEqual(await t.changesNothing(() => t.finish(lease, later(0))), repeat)
    assert.equal((await t.finish(next, DONE)).accepted, true)
    assert.deepEqual(await t.changesNothing(() => t.finish(lease, later(0))), repeat)
    await t.store.delete([lease.id])
    assert.deepEqual(await t.finish(lease, later(0)), refused(lease.id))
  }),
  test('P3 P8 a repeat reports that the attempt was cancelled instead, even if the job was retried since', async (t) => {
    for (const outcome of [null, 'failed', 'cancelled'] as const) {
      const lease = await t.running()
      await t.store.cancel([lease.id], 'stop it')
      const ending = { outcome, error: 'why' }
      assert.equal((await t.finish(lease, later(HOUR), ending)).state, 'cancelled')
      await t.store.retry([lease.id])
      const again = await t.changesNothing(() => t.finish(lease, later(HOUR), ending))
      assert.deepEqual([again.accepted, again.state], [true, 'cancelled'])
    }
  }),
  test('P3 the same finish sent concurrently by several handles is accepted by all and recorded once', async (t) => {
    const stores = await t.handles(3)
    for (let round = 0; round < 8; round += 1) {
      const lease = await t.running()
      const more = { followUps: [aJob()], error: 'why' }
      const item = aFinish(lease, round % 2 === 0 ? DONE : later(HOUR), more)
      const replies = await Promise.all([...stores, ...stores].map((each) => each.finish([item])))
      assert.deepEqual(pluck(replies.flat(), 'accepted'), repeat(true, 6))
      assert.equal((await t.store.history(lease.id)).length, 1)
    }
    await t.countsAre({ done: 4, scheduled: 4, ready: 8 })
  }),
  test('P3 follow-ups are enqueued with the finish, as with enqueue', async (t) => {
    const holder = await t.enqueue({ dedupe: { key: 'k' } })
    const lease = await t.running()
    const followUps = [
      aJob({ payload: 1, queue: 'next' }),
      aJob({ delay: HOUR }),
      aJob({ dedupe: { key: 'k' } }),
      aJob({ dedupe: { key: 'k', onConflict: 'replace' }, payload: 'new' }),
      aJob({ orderKey: 'o' }),
    ]
    const reply = await t.finish(lease, DONE, { followUps })
    const [first, second, , , last] = pluck(followUps, 'id')
    assert.deepEqual(pluck(reply.followUps, 'id'), [first, second, holder, holder, last])
    const outcomes = ['enqueued', 'enqueued', 'duplicate', 'replaced', 'enqueued']
    assert.deepEqual(pluck(reply.followUps, 'outcome'), outcomes)
    await t.jobIs(holder, { payload: '"new"' })
    await t.countsAre({ done: 1, scheduled: 2, ready: 1 })
    await t.countsAre({ ready: 1 }, 'next')
  }),
  test('a follow-up may take the dedupe key that its own job just freed', async (t) => {
    for (const [key, transition] of Object.entries({ kept: DONE, forgotten: FORGET })) {
      const lease = await t.running({ dedupe: { key } })
      const followUp = aJob({ dedupe: { key } })
      const reply = await t.finish(lease, transition, { followUps: [followUp, aJob({ delay: HOUR })] })
      assert.deepEqual(reply.followUps[0], { id: followUp.id, outcome: 'enqueued' })
      const holding = await t.running({ dedupe: { key: `held ${key}`, holdFor: HOUR } })
      const late = await t.finish(holding, transition, {
        followUps: [aJob({ dedupe: { key: `held ${key}` } })],
      })
      assert.deepEqual(late.followUps, [{ id: holding.id, outcome: 'duplicate' }])
    }
    await t.countsAre({ done: 2, ready: 2, scheduled: 2 })
  }),
  test('P11 a follow-up whose id exists is the same job', async (t) => {
    const existing = await t.enqueue({ payload: 'first' })
    const lease = await t.running()
    const reply = await t.finish(lease, DONE, { followUps: [aJob({ id: existing, payload: 'again' })] })
    assert.deepEqual(reply.followUps, enqueued([existing]))
    await t.jobIs(existing, { payload: '"first"' })
  }),
  test('P8 a finish that a cancel overrules enqueues no follow-up; done, and cancelled as requested, do', async (t) => {
    for (const transition of [DEAD, DONE, { to: 'cancelled' }] as const) {
      const lease = await t.running()
      await t.store.cancel([lease.id], 'stop')
      const followUp = aJob({ queue: 'next' })
      const { followUps } = await t.finish(lease, transition, { followUps: [followUp] })
      assert.deepEqual(followUps, transition === DEAD ? [] : enqueued([followUp.id]))
    }
    await t.countsAre({ ready: 2 }, 'next')
    await t.countsAre({ done: 1, cancelled: 2 })
  }),
  test('forMs cools down the queue of the job for that long, and never shortens a longer cool-down', async (t) => {
    await t.enqueue({ queue: 'other' })
    // These are claimed before the cool-down starts, because it blocks claims.
    const leases = await t.runningJobs(3)
    const times: number[] = []
    for (const [n, lease] of leases.entries()) {
      await t.finish(lease, DONE, { cool: { forMs: [5_000, 1_000, 9_000][n] ?? 0 } })
      times.push((await cooling(t))[0])
    }
    for (const ms of [8_999, 1]) {
      t.clock.advance(ms)
      times.push((await cooling(t))[0])
    }
    assert.deepEqual(times, [5_000, 5_000, 9_000, 1, 0])
    assert.deepEqual(await cooling(t, 'other'), [0, 0])
  }),
  test('the longest forMs of a call counts, for each queue separately', async (t) => {
    const [one, two] = await t.runningJobs(2)
    await t.store.finish([
      aFinish(one, DONE, { cool: { forMs: 3_000 } }),
      aFinish(two, DONE, { cool: { forMs: 7_000 } }),
      aFinish(await t.running({ queue: 'b' }), FORGET, { cool: { forMs: 2_000 } }),
      aFinish(await t.running({ queue: 'c' }), DONE),
    ])
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
    for (let event = 0; event < 34; event += 1) {
      const lease = await t.running()
      await t.finish(lease, DEAD, { cool: { baseMs: 1, maxMs: 240 * HOUR, quietMs: HOUR } })
      const [queue] = await t.store.queues.list()
      assert.equal(queue?.coolingMs, Math.min(2 ** event, 240 * HOUR))
      t.clock.advance(queue?.coolingMs ?? 0)
    }
  }),
]
