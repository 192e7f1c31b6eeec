/** Concurrency limits: permits, and everything that releases one. */
import assert from 'node:assert/strict'
import {
  aFinish,
  anAcquire,
  anInstance,
  DEAD,
  DONE,
  FORGET,
  HOUR,
  later,
  only,
  RELEASED,
} from '../../factories.ts'
import type { Bench, HeldLease } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck } from '../looks.ts'
import {
  acquireFor,
  acquireOutcome,
  apiLimit,
  declare,
  granted,
  heldOf,
  permitOf,
  permits,
} from './limit-helpers.ts'

/** Every way an attempt can end, with the guarantees that it is about. */
const ENDS: readonly (readonly [string, string, (t: Bench, lease: HeldLease) => Promise<unknown>])[] = [
  ['P13', 'it is done', (t, lease) => t.finish(lease, DONE)],
  ['P13', 'it is forgotten', (t, lease) => t.finish(lease, FORGET)],
  ['P13', 'it is dead', (t, lease) => t.finish(lease, DEAD)],
  ['P13', 'it is retried later', (t, lease) => t.finish(lease, later(500))],
  ['P13', 'it is retried at once', (t, lease) => t.finish(lease, later(0))],
  [
    'P13',
    'it is snoozed',
    (t, lease) => t.finish(lease, later(500, { refund: true }), { outcome: 'snoozed' }),
  ],
  ['P13', 'it is released', (t, lease) => t.finish(lease, RELEASED)],
  [
    'P8 P13',
    'it is cancelled, and not when the cancel is requested',
    async (t, lease) => {
      await t.store.cancel([lease.id], 'no')
      assert.equal(await heldOf(t.store), 2)
      await t.finish(lease, later(500))
    },
  ],
  [
    'P6 P13',
    'its instance stops and returns it to the queue',
    (t, { instance }) => t.store.instances.deregister(instance),
  ],
  ['P4 P13', 'it is reaped', (t, lease) => reap(t, lease, 3)],
  ['P5 P13', 'its crashes make it dead', (t, lease) => reap(t, lease, 1)],
  [
    'P4 P8 P13',
    'it is reaped after a cancel',
    async (t, lease) => {
      await t.store.cancel([lease.id], 'no')
      await reap(t, lease, 3)
    },
  ],
]
async function reap(t: Bench, { id }: HeldLease, crashesUntilDead: number): Promise<void> {
  t.clock.advance(10_000)
  assert.equal(only((await t.reap(crashesUntilDead)).jobs).id, id)
}

const endCases = ENDS.map(([guarantees, how, end]): Case =>
  test(`${guarantees} the permit of a job is released when ${how}`, async (t) => {
    await declare(t.store, permits(2))
    // Another holder whose permit must stay.
    const bystander = await t.running({}, await t.worker({ leaseMs: 10 * HOUR }))
    assert.equal(await acquireOutcome(t.store, acquireFor(bystander)), 'granted')
    const lease = await t.running()
    assert.equal(await acquireOutcome(t.store, acquireFor(lease)), 'granted')
    assert.deepEqual([await heldOf(t.store), (await apiLimit(t.store)).available], [2, 0])
    await end(t, lease)
    assert.deepEqual([await heldOf(t.store), (await apiLimit(t.store)).available], [1, 1])
    assert.equal(await acquireOutcome(t.store, acquireFor(lease)), 'stale')
    assert.deepEqual(await t.store.limits.release([permitOf(lease)]), [false])
  }),
)

export const permitCases: readonly Case[] = [
  test('P13 permits are granted until none is left, and then the answer is later', async (t) => {
    await declare(t.store, permits(2))
    const leases = await t.runningJobs(3)
    const replies = []
    for (const lease of leases)
      replies.push(only(await t.store.limits.acquire([acquireFor(lease, { waitUpToMs: 1_000 })])))
    assert.deepEqual(replies.slice(0, 2), [granted(0), granted(0)])
    assert.ok(replies[2]?.outcome === 'later' && replies[2].inMs > 0)
    hasFields(await apiLimit(t.store), { available: 0, held: 2, nextInMs: null })
  }),
  test('P13 concurrent acquires through several handles never exceed the limit', async (t) => {
    const stores = await t.handles(3)
    await declare(t.store, permits(3))
    const instance = await t.worker()
    for (let round = 0; round < 5; round += 1) {
      const leases = []
      for (let n = 0; n < 9; n += 1) leases.push(await t.running({}, instance))
      const replies = await Promise.all(
        leases.map((lease, n) => acquireOutcome(stores[n % 3] ?? t.store, acquireFor(lease))),
      )
      assert.equal(replies.filter((outcome) => outcome === 'granted').length, 3)
      assert.equal(await heldOf(t.store), 3)
      await Promise.all(leases.map((lease) => t.finish(lease, DONE)))
      assert.equal(await heldOf(t.store), 0)
    }
  }),
  test('P2 P13 a permit is granted only under the current token of a running job', async (t) => {
    await declare(t.store, permits(5))
    const [old, lease] = await t.takenOver()
    const waiting = await t.enqueue()
    const stale = [
      acquireFor(old),
      acquireFor(lease, { token: lease.token + 1 }),
      acquireFor(lease, { holder: waiting }),
      acquireFor(lease, { holder: anInstance().id }),
    ]
    for (const item of stale) assert.equal(await acquireOutcome(t.store, item), 'stale')
    assert.equal(await heldOf(t.store), 0)
    assert.equal(await acquireOutcome(t.store, acquireFor(lease)), 'granted')
  }),
  test('P4 P13 a holder outside of jobs needs a running instance', async (t) => {
    await declare(t.store, permits(5))
    const ended = await t.endedInstances()
    const [expired, alive] = [await t.worker({ leaseMs: 1 }), await t.worker()]
    t.clock.advance(1)
    for (const instance of [...ended, expired])
      assert.equal(await acquireOutcome(t.store, anAcquire('api', { instance })), 'stale')
    assert.equal(await heldOf(t.store), 0)
    assert.equal(await acquireOutcome(t.store, anAcquire('api', { instance: alive })), 'granted')
    assert.equal(await heldOf(t.store), 1)
  }),
  test('P4 P6 P13 the permits of other holders are released when their instance stops or is lost, and no others', async (t) => {
    await declare(t.store, permits(9))
    await declare(t.store, permits(9), 'more')
    const [lost, stopped] = [await t.worker(), await t.worker({ leaseMs: HOUR })]
    const alive = await t.worker({ leaseMs: HOUR })
    for (const instance of [lost, stopped, alive])
      await t.store.limits.acquire([
        anAcquire('api', { instance, amount: 2 }),
        anAcquire('api', { instance }),
        anAcquire('more', { instance }),
      ])
    assert.equal(await heldOf(t.store), 9)
    await t.store.instances.deregister(stopped)
    assert.equal(await heldOf(t.store), 6)
    t.clock.advance(10_000)
    assert.equal(await heldOf(t.store), 6)
    await t.reap()
    assert.deepEqual(pluck(await t.store.limits.list(), 'held'), [3, 1])
  }),
  test('P13 a permit can be released before the end, once', async (t) => {
    await declare(t.store, permits(1))
    const [lease, other] = [await t.running(), await t.running()]
    await t.store.limits.acquire([acquireFor(lease)])
    const back = [permitOf(other), { ...permitOf(lease), limit: 'nope' }, permitOf(lease), permitOf(lease)]
    assert.deepEqual(await t.store.limits.release(back), [false, false, true, false])
    assert.deepEqual(await t.store.limits.release([]), [])
    assert.equal(await acquireOutcome(t.store, acquireFor(other)), 'granted')
  }),
  test('P2 P13 a permit is released only under its own token', async (t) => {
    await declare(t.store, permits(1))
    const old = await t.running()
    await t.store.limits.acquire([acquireFor(old)])
    t.clock.advance(10_000)
    await t.reap()
    const lease = await t.claimAgain(old)
    assert.equal(await acquireOutcome(t.store, acquireFor(lease)), 'granted')
    const late = [permitOf(old), ...[lease.token + 1, null].map((token) => ({ ...permitOf(lease), token }))]
    assert.deepEqual(await t.store.limits.release(late), [false, false, false])
    assert.equal(await heldOf(t.store), 1)
    assert.deepEqual(await t.store.limits.release([...late, permitOf(lease)]), [false, false, false, true])
    assert.equal(await heldOf(t.store), 0)
  }),
  test('P13 further permits of a holder are added to what it has, and released together', async (t) => {
    await declare(t.store, permits(5))
    const lease = await t.running()
    assert.equal(await acquireOutcome(t.store, acquireFor(lease, { amount: 2 })), 'granted')
    assert.equal(await acquireOutcome(t.store, acquireFor(lease, { amount: 3 })), 'granted')
    assert.equal(await acquireOutcome(t.store, acquireFor(lease)), 'later')
    assert.equal(await heldOf(t.store), 5)
    const tooMany = await t.store.limits.acquire([acquireFor(lease, { amount: 6 })])
    assert.deepEqual(tooMany, [{ outcome: 'never', most: 5 }])
    assert.deepEqual(await t.store.limits.release([permitOf(lease)]), [true])
    assert.equal(await heldOf(t.store), 0)
  }),
  test('P13 a holder keeps its permit when the limit is lowered, and none is granted until there is room', async (t) => {
    await declare(t.store, permits(3))
    const leases = await t.runningJobs(3)
    for (const lease of leases) await t.store.limits.acquire([acquireFor(lease)])
    const changed = await t.store.limits.change('api', permits(1))
    assert.deepEqual([changed.held, changed.available, changed.nextInMs], [3, 0, null])
    const newcomer = await t.running()
    for (const lease of leases) {
      assert.equal(await acquireOutcome(t.store, acquireFor(newcomer)), 'later')
      await t.finish(lease, DONE)
    }
    assert.equal(await acquireOutcome(t.store, acquireFor(newcomer)), 'granted')
  }),
  test('P13 the permits of a limit are deleted with it', async (t) => {
    await declare(t.store, permits(1))
    const lease = await t.running()
    await t.store.limits.acquire([acquireFor(lease)])
    await t.store.limits.delete('api')
    await declare(t.store, permits(1))
    assert.equal(await heldOf(t.store), 0)
    assert.deepEqual(await t.store.limits.release([permitOf(lease)]), [false])
  }),
  test('P13 a drain blocks permits for its time, and revokes none', async (t) => {
    await declare(t.store, permits(2))
    const [first, second] = [await t.running(), await t.running()]
    await t.store.limits.acquire([acquireFor(first)])
    const drained = await t.store.limits.drain('api', 3_000)
    hasFields(drained, { held: 1, available: 0, drainedMs: 3_000, nextInMs: 3_000 })
    t.clock.advance(2_999)
    assert.equal(await acquireOutcome(t.store, acquireFor(second)), 'later')
    t.clock.advance(1)
    assert.equal(await acquireOutcome(t.store, acquireFor(second)), 'granted')
  }),
  ...endCases,
  test('P4 P13 the permit of a job belongs to its attempt only, whichever instance requested it', async (t) => {
    await declare(t.store, permits(5))
    const other = await t.worker()
    const lease = await t.running()
    assert.equal(await acquireOutcome(t.store, acquireFor(lease, { instance: other })), 'granted')
    await t.store.instances.deregister(other)
    assert.equal(await heldOf(t.store), 1)
    await t.finish(lease, DONE)
    assert.equal(await heldOf(t.store), 0)
  }),
  test('P13 the permits of a job in every limit are released at the end of its attempt', async (t) => {
    await declare(t.store, permits(5))
    await declare(t.store, permits(5), 'cpu')
    const lease = await t.running()
    await t.store.limits.acquire([acquireFor(lease), acquireFor(lease, { limit: 'cpu', amount: 4 })])
    assert.deepEqual(pluck(await t.store.limits.list(), 'held'), [1, 4])
    await t.finish(lease, DONE)
    assert.deepEqual(pluck(await t.store.limits.list(), 'held'), [0, 0])
  }),
  test('P13 a refused finish releases nothing: the permits belong to the current attempt', async (t) => {
    await declare(t.store, permits(5))
    const [old, lease] = await t.takenOver()
    await t.store.limits.acquire([acquireFor(lease)])
    assert.equal((await t.finish(old, DONE)).accepted, false)
    assert.equal(await heldOf(t.store), 1)
  }),
  test('P2 P13 an acquire racing the end of its attempt leaves no permit behind', async (t) => {
    const other = await t.another()
    await declare(t.store, permits(50))
    const instance = await t.worker()
    for (let round = 0; round < 15; round += 1) {
      const lease = await t.running({}, instance)
      await Promise.all([
        other.limits.acquire([acquireFor(lease)]),
        t.store.finish([aFinish(lease, round % 2 === 0 ? DONE : later(HOUR))]),
      ])
      assert.equal(await heldOf(t.store), 0)
    }
  }),
  test('P4 P13 an acquire racing the end of its instance leaves no permit behind', async (t) => {
    const other = await t.another()
    await declare(t.store, permits(50))
    for (let round = 0; round < 15; round += 1) {
      const instance = await t.worker()
      await Promise.all([
        other.limits.acquire([anAcquire('api', { instance })]),
        t.store.instances.deregister(instance),
      ])
      assert.equal(await heldOf(t.store), 0)
    }
  }),
  {
    name: 'P10 P13 a finish in a transaction of the user releases permits on commit, and not on rollback',
    needs: ['transactions'],
    async run(t) {
      await declare(t.store, permits(1))
      const lease = await t.running()
      await t.store.limits.acquire([acquireFor(lease)])
      await t.transaction((tx) => t.store.finish([aFinish(lease, DONE)], { tx }), 'rollback')
      assert.equal(await heldOf(t.store), 1)
      await t.transaction((tx) => t.store.finish([aFinish(lease, DONE)], { tx }), 'commit')
      assert.equal(await heldOf(t.store), 0)
    },
  },
]
