/** Concurrency limits: permits, and everything that releases one. */
import assert from 'node:assert/strict'
import { anInstance, anAcquire } from '../../factories.ts'
import { DONE, HOUR, only } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { pluck, hasFields } from '../looks.ts'
import {
  granted,
  acquireFor,
  acquireOutcome,
  dbLimit,
  declarePermits,
  heldOf,
  permitOf,
} from './limit-helpers.ts'

export const permitCases: readonly Case[] = [
  test('P13 permits are granted until none is left, and then the answer is later', async (t) => {
    const { store, runningJobs } = t
    await declarePermits(store, 2)
    const leases = await runningJobs(3)
    const replies = []
    for (const lease of leases)
      replies.push(only(await store.limits.acquire([acquireFor(lease, { waitUpToMs: 1_000 })])))
    assert.deepEqual(replies.slice(0, 2), [granted(0), granted(0)])
    assert.ok(replies[2]?.outcome === 'later' && replies[2].inMs > 0)
    hasFields(await dbLimit(store), { available: 0, held: 2, nextInMs: null })
  }),
  test('P13 concurrent acquires through several handles never exceed the limit', async (t) => {
    const { store, another, running, worker, finish } = t
    const stores = [store, await another(), await another()]
    await declarePermits(store, 3)
    const instance = await worker()
    for (let round = 0; round < 5; round += 1) {
      const leases = []
      for (let n = 0; n < 9; n += 1) leases.push(await running({}, instance))
      const replies = await Promise.all(
        leases.map((lease, n) => acquireOutcome(stores[n % 3] ?? store, acquireFor(lease))),
      )
      assert.equal(replies.filter((outcome) => outcome === 'granted').length, 3)
      assert.equal(await heldOf(store), 3)
      await Promise.all(leases.map((lease) => finish(lease, DONE)))
      assert.equal(await heldOf(store), 0)
    }
  }),
  test('P2 P13 a permit is granted only under the current token of a running job', async (t) => {
    const { store, enqueue, takenOver } = t
    await declarePermits(store, 5)
    const [old, lease] = await takenOver()
    const waiting = await enqueue()
    const stale = [
      acquireFor(old),
      acquireFor(lease, { token: lease.token + 1 }),
      acquireFor(lease, { holder: waiting }),
      acquireFor(lease, { holder: anInstance().id }),
    ]
    for (const item of stale) assert.equal(await acquireOutcome(store, item), 'stale')
    assert.equal(await heldOf(store), 0)
    assert.equal(await acquireOutcome(store, acquireFor(lease)), 'granted')
  }),
  test('P4 P13 a holder outside of jobs needs a running instance', async (t) => {
    const { store, clock, worker, endedInstances } = t
    await declarePermits(store, 5)
    const ended = await endedInstances()
    const [expired, alive] = [await worker({ leaseMs: 1 }), await worker()]
    clock.advance(1)
    for (const instance of [...ended, expired])
      assert.equal(await acquireOutcome(store, anAcquire('db', { instance })), 'stale')
    assert.equal(await heldOf(store), 0)
    assert.equal(await acquireOutcome(store, anAcquire('db', { instance: alive })), 'granted')
    assert.equal(await heldOf(store), 1)
  }),
  test('P4 P6 P13 the permits of other holders are released when their instance stops or is lost, and no others', async (t) => {
    const { store, clock, worker, reap } = t
    await declarePermits(store, 9)
    await declarePermits(store, 9, 'more')
    const [lost, stopped, alive] = [
      await worker(),
      await worker({ leaseMs: HOUR }),
      await worker({ leaseMs: HOUR }),
    ]
    for (const instance of [lost, stopped, alive])
      await store.limits.acquire([
        anAcquire('db', { instance, amount: 2 }),
        anAcquire('db', { instance }),
        anAcquire('more', { instance }),
      ])
    assert.equal(await heldOf(store), 9)
    await store.instances.deregister(stopped)
    assert.equal(await heldOf(store), 6)
    clock.advance(10_000)
    assert.equal(await heldOf(store), 6)
    await reap()
    assert.deepEqual(pluck(await store.limits.list(), 'held'), [3, 1])
  }),
  test('P13 a permit can be released before the end, once', async ({ store, running }) => {
    await declarePermits(store, 1)
    const [lease, other] = [await running(), await running()]
    await store.limits.acquire([acquireFor(lease)])
    const back = [permitOf(other), { ...permitOf(lease), limit: 'nope' }, permitOf(lease), permitOf(lease)]
    assert.deepEqual(await store.limits.release(back), [false, false, true, false])
    assert.deepEqual(await store.limits.release([]), [])
    assert.equal(await acquireOutcome(store, acquireFor(other)), 'granted')
  }),
  test('P2 P13 a permit is released only under its own token', async (t) => {
    const { store, clock, running, reap, claimAgain } = t
    await declarePermits(store, 1)
    const old = await running()
    await store.limits.acquire([acquireFor(old)])
    clock.advance(10_000)
    await reap()
    const lease = await claimAgain(old)
    assert.equal(await acquireOutcome(store, acquireFor(lease)), 'granted')
    const late = [
      permitOf(old),
      { ...permitOf(lease), token: lease.token + 1 },
      { ...permitOf(lease), token: null },
    ]
    assert.deepEqual(await store.limits.release(late), [false, false, false])
    assert.equal(await heldOf(store), 1)
    assert.deepEqual(await store.limits.release([...late, permitOf(lease)]), [false, false, false, true])
    assert.equal(await heldOf(store), 0)
  }),
  test('P13 further permits of a holder are added to what it has, and released together', async (t) => {
    const { store, running } = t
    await declarePermits(store, 5)
    const lease = await running()
    assert.equal(await acquireOutcome(store, acquireFor(lease, { amount: 2 })), 'granted')
    assert.equal(await acquireOutcome(store, acquireFor(lease, { amount: 3 })), 'granted')
    assert.equal(await acquireOutcome(store, acquireFor(lease)), 'later')
    assert.equal(await heldOf(store), 5)
    assert.deepEqual(only(await store.limits.acquire([acquireFor(lease, { amount: 6 })])), {
      outcome: 'never',
      most: 5,
    })
    assert.deepEqual(await store.limits.release([permitOf(lease)]), [true])
    assert.equal(await heldOf(store), 0)
  }),
  test('P13 a holder keeps its permit when the limit is lowered, and none is granted until there is room', async (t) => {
    const { store, running, finish, runningJobs } = t
    await declarePermits(store, 3)
    const leases = await runningJobs(3)
    for (const lease of leases) await store.limits.acquire([acquireFor(lease)])
    const changed = await store.limits.change('db', { type: 'concurrency', most: 1 })
    assert.deepEqual([changed.held, changed.available, changed.nextInMs], [3, 0, null])
    const newcomer = await running()
    for (const lease of leases) {
      assert.equal(await acquireOutcome(store, acquireFor(newcomer)), 'later')
      await finish(lease, DONE)
    }
    assert.equal(await acquireOutcome(store, acquireFor(newcomer)), 'granted')
  }),
  test('P13 the permits of a limit are deleted with it', async ({ store, running }) => {
    await declarePermits(store, 1)
    const lease = await running()
    await store.limits.acquire([acquireFor(lease)])
    await store.limits.delete('db')
    await declarePermits(store, 1)
    assert.equal(await heldOf(store), 0)
    assert.deepEqual(await store.limits.release([permitOf(lease)]), [false])
  }),
  test('P13 a drain blocks permits for its time, and revokes none', async ({ store, clock, running }) => {
    await declarePermits(store, 2)
    const [first, second] = [await running(), await running()]
    await store.limits.acquire([acquireFor(first)])
    const drained = await store.limits.drain('db', 3_000)
    hasFields(drained, { held: 1, available: 0, drainedMs: 3_000, nextInMs: 3_000 })
    clock.advance(2_999)
    assert.equal(await acquireOutcome(store, acquireFor(second)), 'later')
    clock.advance(1)
    assert.equal(await acquireOutcome(store, acquireFor(second)), 'granted')
  }),
]
