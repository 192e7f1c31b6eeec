/** Queues with a limit: a claim leases no more than the budget allows, and spends it. */
import assert from 'node:assert/strict'
import { DEFAULT_QUEUE_SETTINGS, type Lease } from 'jobmill/store'
import { aClaim, anInstance, aHeartbeat, anAcquire, someJobs } from '../../factories.ts'
import { aFinish, DONE, HOUR, later, only, RELEASED } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { setQueue, pluck, countsOf, rejectsWith } from '../looks.ts'
import {
  acquireOutcome,
  apiLimit,
  BURST_OF_3,
  claimFrom,
  setUpLimitedQueues,
  THREE,
} from './limit-helpers.ts'

export const queueLimitCases: readonly Case[] = [
  test('a queue cannot name a missing limit, and nothing is written then', async ({ store, enqueue }) => {
    await enqueue()
    await store.limits.declare([{ name: 'api', settings: BURST_OF_3 }])
    const before = await store.queues.list()
    const settings = { ...DEFAULT_QUEUE_SETTINGS, limit: 'nope' }
    await rejectsWith('LIMIT_UNKNOWN', () =>
      store.queues.declare([
        { name: 'fine', settings: DEFAULT_QUEUE_SETTINGS },
        { name: 'mail', settings },
      ]),
    )
    await rejectsWith('LIMIT_UNKNOWN', () =>
      store.queues.change('default', { settings: { limit: 'nope', workers: 3 }, coolMs: 500 }),
    )
    assert.deepEqual(await store.queues.list(), before)
    const changed = await setQueue(store, 'default', { limit: 'api' })
    assert.equal(changed.limit, 'api')
  }),
  test('a limit that a queue uses cannot be deleted, until no queue does', async ({ store }) => {
    await setUpLimitedQueues(store, BURST_OF_3)
    await rejectsWith('LIMIT_IN_USE', () => store.limits.delete('api'))
    assert.equal((await store.limits.list()).length, 1)
    await setQueue(store, 'mail', { limit: null })
    assert.equal(await store.limits.delete('api'), true)
  }),
  test('P13 a claim takes what the budget has, spends it, and more only when it refills', async (t) => {
    const { store, clock, worker } = t
    await setUpLimitedQueues(store, BURST_OF_3)
    const id = await worker()
    assert.equal((await claimFrom(store, id, ['mail'], { room: 2 })).length, 2)
    assert.equal((await apiLimit(store)).available, 1)
    assert.equal((await claimFrom(store, id)).length, 1)
    assert.equal((await claimFrom(store, id)).length, 0)
    clock.advance(99)
    assert.equal((await claimFrom(store, id)).length, 0)
    clock.advance(1)
    assert.equal((await claimFrom(store, id)).length, 1)
    clock.advance(200)
    assert.equal((await claimFrom(store, id)).length, 2)
  }),
  test('P13 each job of a queue with a concurrency limit holds one permit until its attempt ends', async (t) => {
    const { store, worker } = t
    await setUpLimitedQueues(store, THREE)
    const id = await worker()
    const leases = await claimFrom(store, id)
    assert.equal(leases.length, 3)
    assert.deepEqual([(await apiLimit(store)).held, (await apiLimit(store)).available], [3, 0])
    assert.equal((await claimFrom(store, id)).length, 0)
    const [first, second, third] = leases
    assert.ok(first && second && third)
    await store.finish([aFinish(first, DONE), aFinish(second, RELEASED), aFinish(third, later(HOUR))])
    assert.equal((await apiLimit(store)).held, 0)
    assert.equal((await claimFrom(store, id)).length, 3)
    await store.instances.deregister(id)
    assert.equal((await apiLimit(store)).held, 0)
  }),
  test('P13 concurrent claims through several handles never take more than the rate allows', async (t) => {
    const { store, another, clock, worker } = t
    const stores = [store, await another(), await another()]
    await setUpLimitedQueues(store, { ...BURST_OF_3, burst: 5 }, { jobs: 30 })
    const ids = await Promise.all(stores.map(() => worker({ leaseMs: HOUR })))
    for (const there of [5, 2, 4]) {
      const claims = Array.from({ length: 6 }, (_, n) => claimFrom(stores[n % 3] ?? store, ids[n % 3] ?? ''))
      const leases = (await Promise.all(claims)).flat()
      assert.ok(leases.length <= there, `${leases.length} of ${there}`)
      // A claim that found rows locked by another one may return less. No part of the budget is lost by
      // that.
      for (let n = leases.length; n < there; n += 1) leases.push(...(await claimFrom(store, ids[0] ?? '')))
      assert.equal(leases.length, there)
      assert.equal((await claimFrom(store, ids[0] ?? '')).length, 0)
      clock.advance(there === 5 ? 200 : 400)
    }
  }),
  test('P13 concurrent claims, acquires and finishes through several handles never exceed a concurrency limit', async (t) => {
    const { store, another, worker } = t
    const stores = [store, await another(), await another()]
    await setUpLimitedQueues(store, THREE, { jobs: 30 })
    const ids = await Promise.all(stores.map(() => worker()))
    const hands: Lease[][] = stores.map(() => [])
    const mostHeld = { now: 0 }
    for (let round = 0; round < 12; round += 1) {
      await Promise.all(
        stores.map(async (each, n) => {
          const hand = hands[n] ?? []
          hand.push(...(await claimFrom(each, ids[n] ?? '', ['mail'], { room: 2 })))
          await each.limits.acquire([anAcquire('api', { instance: ids[n] ?? '', holder: ids[n] ?? '' })])
          mostHeld.now = Math.max(mostHeld.now, (await apiLimit(each)).held)
          await each.limits.release([{ limit: 'api', holder: ids[n] ?? '', token: null }])
          await each.finish(hand.splice(0, 1).map((lease) => aFinish(lease, DONE)))
        }),
      )
      const running = (await countsOf(store, 'mail')).running ?? 0
      assert.equal((await apiLimit(store)).held, running)
      assert.ok(running <= 3, `${running} run`)
    }
    assert.ok(mostHeld.now <= 3 && mostHeld.now > 0, `${mostHeld.now} were held at once`)
    assert.ok(((await countsOf(store, 'mail')).done ?? 0) >= 10)
  }),
  test('P13 an empty budget blocks only its own queue', async ({ store, enqueue, worker }) => {
    await setUpLimitedQueues(store, BURST_OF_3)
    const free = await enqueue()
    const id = await worker()
    await claimFrom(store, id)
    assert.deepEqual(pluck(await claimFrom(store, id, ['mail', 'default']), 'id'), [free])
  }),
  test('queues without a limit are claimed from first, the others in the order of the request; the reply is by priority', async (t) => {
    const { store, worker } = t
    await store.limits.declare([{ name: 'api', settings: { ...BURST_OF_3, burst: 9 } }])
    const settings = { ...DEFAULT_QUEUE_SETTINGS, limit: 'api' }
    await store.queues.declare(['a', 'b'].map((name) => ({ name, settings })))
    const [a, b, free1, free2] = someJobs([
      { queue: 'a', priority: -5 },
      { queue: 'b', priority: -9 },
      { queue: 'free', priority: 3 },
      { queue: 'free', priority: 4 },
    ])
    assert.ok(a && b && free1 && free2)
    await store.enqueue([a, b, free1, free2])
    const id = await worker()
    const claimIds = async (limit: number, queues: readonly string[]): Promise<string[]> => {
      const leases = await claimFrom(store, id, queues, { limit })
      await store.finish(leases.map((lease) => aFinish(lease, RELEASED)))
      return leases.map((lease) => lease.id)
    }
    assert.deepEqual(await claimIds(1, ['a', 'b', 'free']), [free1.id])
    assert.deepEqual(await claimIds(3, ['a', 'b', 'free']), [a.id, free1.id, free2.id])
    assert.deepEqual(await claimIds(3, ['b', 'a', 'free']), [b.id, free1.id, free2.id])
    assert.deepEqual(await claimIds(1, ['a', 'b']), [a.id])
    assert.deepEqual(await claimIds(4, ['a', 'free', 'b']), [b.id, a.id, free1.id, free2.id])
  }),
  test('a queue with a limit has the same order as every queue', async ({ store, enqueue, worker }) => {
    await setUpLimitedQueues(store, { ...BURST_OF_3, burst: 2 }, { jobs: 0 })
    const ids = []
    for (const priority of [1, 0, 1, 0, -1]) ids.push(await enqueue({ queue: 'mail', priority }))
    assert.deepEqual(pluck(await claimFrom(store, await worker()), 'id'), [ids[4], ids[1]])
  }),
  test('P13 queues that use one limit share its budget, also in one claim', async ({ store, worker }) => {
    await setUpLimitedQueues(store, BURST_OF_3, { queues: ['mail', 'sms'] })
    const id = await worker()
    const leases = await claimFrom(store, id, ['mail', 'sms'], { room: 2 })
    assert.deepEqual(leases.map(({ queue }) => queue).toSorted(), ['mail', 'mail', 'sms'])
    assert.equal((await claimFrom(store, id, ['sms'])).length, 0)
  }),
  test('P13 handlers and claims share one budget', async ({ store, worker }) => {
    await setUpLimitedQueues(store, BURST_OF_3)
    await store.limits.acquire([anAcquire('api', { amount: 2 })])
    assert.equal((await claimFrom(store, await worker())).length, 1)
    assert.equal(await acquireOutcome(store, anAcquire('api')), 'later')
  }),
  test('P13 a permit that a handler acquires from the limit of its own queue is added to the job’s, and released with it', async (t) => {
    const { store, worker, finish } = t
    await setUpLimitedQueues(store, THREE, { jobs: 1 })
    const instance = await worker()
    const lease = only(await claimFrom(store, instance))
    const take = anAcquire('api', { holder: lease.id, token: lease.token, instance, amount: 2 })
    assert.equal(await acquireOutcome(store, take), 'granted')
    assert.equal((await apiLimit(store)).held, 3)
    await finish(lease, DONE)
    assert.equal((await apiLimit(store)).held, 0)
  }),
  test('P4 P13 a claim that is refused or finds nothing spends nothing', async ({ store, worker }) => {
    await setUpLimitedQueues(store, BURST_OF_3)
    assert.deepEqual(await claimFrom(store, anInstance().id), [])
    const id = await worker()
    assert.deepEqual(
      await store.claim(aClaim(id, { queues: [{ queue: 'mail', room: 5 }], kinds: ['x'] })),
      [],
    )
    assert.deepEqual(await claimFrom(store, id, ['mail'], { room: 0 }), [])
    assert.equal((await apiLimit(store)).available, 3)
  }),
  test('P5 P13 a quarantined job uses the limit of its queue like any other job', async (t) => {
    const { store, clock, worker, reap } = t
    await setUpLimitedQueues(store, { ...BURST_OF_3, burst: 1 }, { jobs: 1 })
    for (let crash = 0; crash < 2; crash += 1) {
      assert.equal((await claimFrom(store, await worker())).length, 1)
      clock.advance(10_000)
      await reap(9)
    }
    const id = await worker()
    await store.limits.acquire([anAcquire('api')])
    const quarantined = { queues: [{ queue: 'mail', room: 1 }], quarantined: 'only' as const }
    assert.equal((await store.instances.renew(aHeartbeat(id, { queues: ['mail'] }))).quarantined, false)
    assert.equal((await store.claim(aClaim(id, quarantined))).length, 0)
    clock.advance(100)
    assert.equal((await store.instances.renew(aHeartbeat(id, { queues: ['mail'] }))).quarantined, true)
    assert.equal((await store.claim(aClaim(id, quarantined))).length, 1)
    assert.equal((await apiLimit(store)).available, 0)
  }),
  test('a change of the limit of a queue applies at the next claim', async ({ store, worker }) => {
    await setUpLimitedQueues(store, { ...BURST_OF_3, burst: 1 })
    const id = await worker()
    assert.equal((await claimFrom(store, id)).length, 1)
    await setQueue(store, 'mail', { limit: null })
    assert.equal((await claimFrom(store, id, ['mail'], { room: 5 })).length, 5)
    await setQueue(store, 'mail', { limit: 'api' })
    assert.equal((await claimFrom(store, id)).length, 0)
  }),
]
