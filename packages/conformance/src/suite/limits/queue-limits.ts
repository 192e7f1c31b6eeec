/** Queues with a limit: a claim leases no more than the budget allows, and spends it. */
import assert from 'node:assert/strict'
import type { Lease } from 'jobmill/store'
import {
  aFinish,
  anAcquire,
  anInstance,
  DONE,
  FORGET,
  HOUR,
  later,
  only,
  RELEASED,
  rooms,
} from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck } from '../looks.ts'
import {
  acquireFor,
  acquireOutcome,
  apiLimit,
  BURST_OF_3,
  claimFrom,
  declare,
  heldOf,
  permits,
  rate,
  readinessOf,
  setUpLimitedQueues,
} from './limit-helpers.ts'

export const queueLimitCases: readonly Case[] = [
  test('P13 a claim takes what the budget has, spends it, and more only when it refills', async (t) => {
    const id = await setUpLimitedQueues(t, BURST_OF_3)
    assert.equal((await claimFrom(t.store, id, ['mail'], { room: 2 })).length, 2)
    assert.equal((await apiLimit(t.store)).available, 1)
    assert.equal((await claimFrom(t.store, id)).length, 1)
    assert.equal((await claimFrom(t.store, id)).length, 0)
    t.clock.advance(99)
    assert.equal((await claimFrom(t.store, id)).length, 0)
    t.clock.advance(1)
    assert.equal((await claimFrom(t.store, id)).length, 1)
    t.clock.advance(200)
    assert.equal((await claimFrom(t.store, id)).length, 2)
  }),
  test('P13 each job of a queue with a concurrency limit holds one permit until its attempt ends', async (t) => {
    const id = await setUpLimitedQueues(t, permits(3))
    const leases = await claimFrom(t.store, id)
    assert.equal(leases.length, 3)
    hasFields(await apiLimit(t.store), { held: 3, available: 0 })
    assert.equal((await claimFrom(t.store, id)).length, 0)
    const [first, second, third] = leases
    assert.ok(first && second && third)
    await t.store.finish([aFinish(first, DONE), aFinish(second, RELEASED), aFinish(third, later(HOUR))])
    assert.equal(await heldOf(t.store), 0)
    const again = await claimFrom(t.store, id)
    await t.store.finish(again.slice(1).map((lease) => aFinish(lease, FORGET)))
    assert.deepEqual([again.length, await heldOf(t.store)], [3, 1])
    await t.store.instances.deregister(id)
    assert.equal(await heldOf(t.store), 0)
  }),
  test('P13 concurrent claims through several handles never take more than the rate allows', async (t) => {
    const stores = await t.handles(3)
    await setUpLimitedQueues(t, { ...BURST_OF_3, burst: 5 }, { jobs: 30 })
    const ids = await Promise.all(stores.map(() => t.worker({ leaseMs: HOUR })))
    for (const there of [5, 2, 4]) {
      const claims = Array.from({ length: 6 }, (_, n) =>
        claimFrom(stores[n % 3] ?? t.store, ids[n % 3] ?? ''),
      )
      const leases = (await Promise.all(claims)).flat()
      assert.ok(leases.length <= there, `${leases.length} of ${there}`)
      // A claim that found rows locked by another one may return less. No part of the budget is lost by
      // that.
      for (let n = leases.length; n < there; n += 1) leases.push(...(await claimFrom(t.store, ids[0] ?? '')))
      assert.equal(leases.length, there)
      assert.equal((await claimFrom(t.store, ids[0] ?? '')).length, 0)
      t.clock.advance(there === 5 ? 200 : 400)
    }
  }),
  test('P13 concurrent claims, acquires and finishes through several handles never exceed a concurrency limit', async (t) => {
    const stores = await t.handles(3)
    await setUpLimitedQueues(t, permits(3), { jobs: 30 })
    const ids = await Promise.all(stores.map(() => t.worker()))
    const hands: Lease[][] = stores.map(() => [])
    const counts: number[] = []
    for (let round = 0; round < 12; round += 1) {
      await Promise.all(
        stores.map(async (each, n) => {
          const [hand = [], id = ''] = [hands[n], ids[n]]
          hand.push(...(await claimFrom(each, id, ['mail'], { room: 2 })))
          await each.limits.acquire([anAcquire('api', { instance: id, holder: id })])
          counts.push(await heldOf(each))
          await each.limits.release([{ limit: 'api', holder: id, token: null }])
          await each.finish(hand.splice(0, 1).map((lease) => aFinish(lease, DONE)))
        }),
      )
      const { length } = await t.idsOf({ state: 'running' })
      assert.equal(await heldOf(t.store), length)
      assert.ok(length <= 3, `${length} run`)
    }
    const most = Math.max(...counts)
    assert.ok(most <= 3 && most > 0, `${most} were held at once`)
    assert.ok((await t.idsOf({ state: 'done' })).length >= 10)
  }),
  test('P13 an empty budget blocks only its own queue', async (t) => {
    const id = await setUpLimitedQueues(t, BURST_OF_3)
    const free = await t.enqueue()
    await claimFrom(t.store, id)
    assert.deepEqual(pluck(await claimFrom(t.store, id, ['mail', 'default']), 'id'), [free])
  }),
  test('queues without a limit are claimed from first, the others in the order of the request; the reply is by priority', async (t) => {
    const limited = { queues: ['a', 'b'], jobs: 0 }
    const id = await setUpLimitedQueues(t, { ...BURST_OF_3, burst: 9 }, limited)
    const a = await t.enqueue({ queue: 'a', priority: -5 })
    const b = await t.enqueue({ queue: 'b', priority: -9 })
    const free1 = await t.enqueue({ queue: 'free', priority: 3 })
    const free2 = await t.enqueue({ queue: 'free', priority: 4 })
    const claimIds = async (limit: number, queues: readonly string[]): Promise<string[]> => {
      const leases = await claimFrom(t.store, id, queues, { limit })
      await t.store.finish(leases.map((lease) => aFinish(lease, RELEASED)))
      return leases.map((lease) => lease.id)
    }
    assert.deepEqual(await claimIds(1, ['a', 'b', 'free']), [free1])
    assert.deepEqual(await claimIds(3, ['a', 'b', 'free']), [a, free1, free2])
    assert.deepEqual(await claimIds(3, ['b', 'a', 'free']), [b, free1, free2])
    assert.deepEqual(await claimIds(1, ['a', 'b']), [a])
    assert.deepEqual(await claimIds(4, ['a', 'free', 'b']), [b, a, free1, free2])
  }),
  test('a queue with a limit has the same order as every queue', async (t) => {
    const id = await setUpLimitedQueues(t, { ...BURST_OF_3, burst: 2 }, { jobs: 0 })
    const ids = []
    for (const priority of [1, 0, 1, 0, -1]) ids.push(await t.enqueue({ queue: 'mail', priority }))
    assert.deepEqual(pluck(await claimFrom(t.store, id), 'id'), [ids[4], ids[1]])
  }),
  test('P13 queues that use one limit share its budget, also in one claim', async (t) => {
    const id = await setUpLimitedQueues(t, BURST_OF_3, { queues: ['mail', 'sms'] })
    const leases = await claimFrom(t.store, id, ['mail', 'sms'], { room: 2 })
    assert.deepEqual(leases.map(({ queue }) => queue).toSorted(), ['mail', 'mail', 'sms'])
    assert.equal((await claimFrom(t.store, id, ['sms'])).length, 0)
  }),
  test('P13 handlers and claims share one budget', async (t) => {
    await setUpLimitedQueues(t, BURST_OF_3)
    await t.store.limits.acquire([anAcquire('api', { amount: 2 })])
    assert.equal((await claimFrom(t.store, await t.worker())).length, 1)
    assert.equal(await acquireOutcome(t.store, anAcquire('api')), 'later')
  }),
  test('P13 a permit that a handler acquires from the limit of its own queue is added to the job’s, and released with it', async (t) => {
    const instance = await setUpLimitedQueues(t, permits(3), { jobs: 2 })
    for (const transition of [DONE, FORGET]) {
      const lease = only(await claimFrom(t.store, instance, ['mail'], { room: 1 }))
      const take = acquireFor({ ...lease, instance }, { amount: 2 })
      assert.equal(await acquireOutcome(t.store, take), 'granted')
      assert.equal(await heldOf(t.store), 3)
      await t.finish(lease, transition)
      assert.equal(await heldOf(t.store), 0)
    }
  }),
  test('P4 P13 a claim that is refused or finds nothing spends nothing', async (t) => {
    const id = await setUpLimitedQueues(t, BURST_OF_3)
    assert.deepEqual(await claimFrom(t.store, anInstance().id), [])
    assert.deepEqual(await t.claim(id, { queues: rooms({ mail: 5 }), kinds: ['x'] }), [])
    assert.deepEqual(await claimFrom(t.store, id, ['mail'], { room: 0 }), [])
    assert.equal((await apiLimit(t.store)).available, 3)
  }),
  test('P5 P13 a quarantined job uses the limit of its queue like any other job', async (t) => {
    const id = await setUpLimitedQueues(t, { ...BURST_OF_3, burst: 1 }, { jobs: 1 })
    for (let crash = 0; crash < 2; crash += 1) {
      assert.equal((await claimFrom(t.store, await t.worker())).length, 1)
      t.clock.advance(10_000)
      await t.reap(9)
    }
    await t.store.limits.acquire([anAcquire('api')])
    const request = { queues: rooms({ mail: 1 }), quarantined: 'only' } as const
    assert.equal((await t.renew(id, { queues: ['mail'] })).quarantined, false)
    assert.deepEqual(await t.claim(id, request), [])
    t.clock.advance(100)
    assert.equal((await t.renew(id, { queues: ['mail'] })).quarantined, true)
    assert.equal((await t.claim(id, request)).length, 1)
    assert.equal((await apiLimit(t.store)).available, 0)
  }),
  test('a change of the limit of a queue applies at the next claim', async (t) => {
    const id = await setUpLimitedQueues(t, { ...BURST_OF_3, burst: 1 })
    assert.equal((await claimFrom(t.store, id)).length, 1)
    await t.setQueue('mail', { limit: null })
    assert.equal((await claimFrom(t.store, id, ['mail'], { room: 5 })).length, 5)
    await t.setQueue('mail', { limit: 'api' })
    assert.equal((await claimFrom(t.store, id)).length, 0)
  }),
  test('P13 a heartbeat reports nothing ready while the budget is empty, and when it refills', async (t) => {
    const id = await setUpLimitedQueues(t, BURST_OF_3)
    assert.deepEqual(await readinessOf(t.store, id), [true, null])
    await claimFrom(t.store, id)
    assert.deepEqual(await readinessOf(t.store, id), [false, 100])
    t.clock.advance(40)
    assert.deepEqual(await readinessOf(t.store, id), [false, 60])
    assert.deepEqual(await readinessOf(t.store, id, { kinds: ['other'] }), [false, null])
    assert.deepEqual(await readinessOf(t.store, id, { queues: ['other'] }), [false, null])
    assert.deepEqual(await readinessOf(t.store, id, { queues: [] }), [false, null])
    t.clock.advance(60)
    assert.deepEqual(await readinessOf(t.store, id), [true, null])
  }),
  test('P13 a heartbeat reports the first budget that refills, and not queues that wait for something else', async (t) => {
    const id = await setUpLimitedQueues(t, { ...BURST_OF_3, burst: 1 })
    await declare(t.store, rate({ amount: 1, perMs: 5_000, burst: 1 }), 'slow')
    await t.store.queues.declare([{ name: 'sms', settings: { limit: 'slow' } }])
    const sms = [await t.enqueue({ queue: 'sms' }), await t.enqueue({ queue: 'sms' })]
    const both = { queues: ['sms', 'mail'] }
    await claimFrom(t.store, id, both.queues)
    assert.deepEqual(await readinessOf(t.store, id, both), [false, 100])
    await t.store.queues.change('mail', { settings: {}, coolMs: 500 })
    assert.deepEqual(await readinessOf(t.store, id, both), [false, 5_000])
    await t.setQueue('sms', { paused: true })
    assert.deepEqual(await readinessOf(t.store, id, both), [false, null])
    await t.setQueue('sms', { paused: false })
    // Without a waiting job there is nothing to report.
    await t.store.cancel(sms, 'no')
    assert.deepEqual(await readinessOf(t.store, id, both), [false, null])
  }),
  test('P13 a heartbeat reports no time if only a release can help, and the end of a drain', async (t) => {
    const id = await setUpLimitedQueues(t, permits(3))
    const [lease] = await claimFrom(t.store, id)
    assert.ok(lease)
    assert.deepEqual(await readinessOf(t.store, id), [false, null])
    await t.finish(lease, DONE)
    assert.deepEqual(await readinessOf(t.store, id), [true, null])
    await t.store.limits.drain('api', 700)
    assert.deepEqual(await readinessOf(t.store, id), [false, 700])
    assert.equal((await claimFrom(t.store, id)).length, 0)
    t.clock.advance(700)
    assert.equal((await claimFrom(t.store, id)).length, 1)
  }),
  test('P13 a drained rate blocks its queue exactly that long', async (t) => {
    const id = await setUpLimitedQueues(t, BURST_OF_3)
    await t.store.limits.drain('api', 3_000)
    assert.deepEqual(await readinessOf(t.store, id), [false, 3_000])
    t.clock.advance(2_999)
    assert.equal((await claimFrom(t.store, id)).length, 0)
    t.clock.advance(1)
    assert.deepEqual(await readinessOf(t.store, id), [true, null])
    assert.equal((await claimFrom(t.store, id)).length, 1)
  }),
]
