/** What a heartbeat reports about queues that are blocked by their limit, and about drains. */
import assert from 'node:assert/strict'
import { DEFAULT_QUEUE_SETTINGS } from 'jobmill/store'
import { DONE, HOUR } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { setQueue } from '../looks.ts'
import { BURST_OF_3, claimFrom, readinessOf, setUpLimitedQueues, THREE } from './limit-helpers.ts'

export const queueLimitHeartbeatCases: readonly Case[] = [
  test('P13 a heartbeat reports nothing ready while the budget is empty, and when it refills', async (t) => {
    const { store, clock, worker } = t
    await setUpLimitedQueues(store, BURST_OF_3)
    const id = await worker({ leaseMs: HOUR })
    assert.deepEqual(await readinessOf(store, id), [true, null])
    await claimFrom(store, id)
    assert.deepEqual(await readinessOf(store, id), [false, 100])
    clock.advance(40)
    assert.deepEqual(await readinessOf(store, id), [false, 60])
    assert.deepEqual(await readinessOf(store, id, { kinds: ['other'] }), [false, null])
    assert.deepEqual(await readinessOf(store, id, { queues: ['other'] }), [false, null])
    assert.deepEqual(await readinessOf(store, id, { queues: [] }), [false, null])
    clock.advance(60)
    assert.deepEqual(await readinessOf(store, id), [true, null])
  }),
  test('P13 a heartbeat reports the first budget that refills, and not queues that wait for something else', async (t) => {
    const { store, worker, enqueue } = t
    await setUpLimitedQueues(store, { ...BURST_OF_3, burst: 1 })
    await store.limits.declare([
      { name: 'slow', settings: { type: 'rate', amount: 1, perMs: 5_000, burst: 1 } },
    ])
    await store.queues.declare([{ name: 'sms', settings: { ...DEFAULT_QUEUE_SETTINGS, limit: 'slow' } }])
    const sms = [await enqueue({ queue: 'sms' }), await enqueue({ queue: 'sms' })]
    const id = await worker()
    const both = { queues: ['sms', 'mail'] }
    await claimFrom(store, id, both.queues)
    assert.deepEqual(await readinessOf(store, id, both), [false, 100])
    await store.queues.change('mail', { settings: {}, coolMs: 500 })
    assert.deepEqual(await readinessOf(store, id, both), [false, 5_000])
    await setQueue(store, 'sms', { paused: true })
    assert.deepEqual(await readinessOf(store, id, both), [false, null])
    await setQueue(store, 'sms', { paused: false })
    // Without a waiting job there is nothing to report.
    await store.cancel(sms, 'no')
    assert.deepEqual(await readinessOf(store, id, both), [false, null])
  }),
  test('P13 a heartbeat reports no time if only a release can help, and the end of a drain', async (t) => {
    const { store, clock, worker, finish } = t
    await setUpLimitedQueues(store, THREE)
    const id = await worker({ leaseMs: HOUR })
    const [lease] = await claimFrom(store, id)
    assert.ok(lease)
    assert.deepEqual(await readinessOf(store, id), [false, null])
    await finish(lease, DONE)
    assert.deepEqual(await readinessOf(store, id), [true, null])
    await store.limits.drain('api', 700)
    assert.deepEqual(await readinessOf(store, id), [false, 700])
    assert.equal((await claimFrom(store, id)).length, 0)
    clock.advance(700)
    assert.equal((await claimFrom(store, id)).length, 1)
  }),
  test('P13 a drained rate blocks its queue exactly that long', async ({ store, clock, worker }) => {
    await setUpLimitedQueues(store, BURST_OF_3)
    const id = await worker({ leaseMs: HOUR })
    await store.limits.drain('api', 3_000)
    assert.deepEqual(await readinessOf(store, id), [false, 3_000])
    clock.advance(2_999)
    assert.equal((await claimFrom(store, id)).length, 0)
    clock.advance(1)
    assert.deepEqual(await readinessOf(store, id), [true, null])
    assert.equal((await claimFrom(store, id)).length, 1)
  }),
]
