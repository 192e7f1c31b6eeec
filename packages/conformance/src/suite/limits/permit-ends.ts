/** Everything that releases the permit of a job. */
import assert from 'node:assert/strict'
import { anAcquire } from '../../factories.ts'
import { aFinish, type Bench, DEAD, DONE, HOUR, later, RELEASED } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { pluck } from '../looks.ts'
import {
  acquireFor,
  acquireOutcome,
  dbLimit,
  declarePermits,
  type HeldLease,
  heldOf,
  permitOf,
} from './limit-helpers.ts'
/** Every way an attempt can end. */
const ENDS: readonly (readonly [string, (t: Bench, lease: HeldLease) => Promise<unknown>])[] = [
  ['P13 the permit of a job is released when it is done', (t, lease) => t.finish(lease, DONE)],
  ['P13 the permit of a job is released when it is dead', (t, lease) => t.finish(lease, DEAD)],
  ['P13 the permit of a job is released when it is retried later', (t, lease) => t.finish(lease, later(500))],
  ['P13 the permit of a job is released when it is retried at once', (t, lease) => t.finish(lease, later(0))],
  [
    'P13 the permit of a job is released when it is snoozed',
    (t, lease) => t.finish(lease, later(500, { refund: true }), { outcome: 'snoozed' }),
  ],
  ['P13 the permit of a job is released when it is released', (t, lease) => t.finish(lease, RELEASED)],
  [
    'P8 P13 the permit of a job is released when it is cancelled, and not when the cancel is requested',
    async (t, lease) => {
      await t.store.cancel([lease.id], 'no')
      assert.equal(await heldOf(t.store), 2)
      await t.finish(lease, later(500))
    },
  ],
  [
    'P6 P13 the permit of a job is released when its instance stops and returns it to the queue',
    (t, lease) => t.store.instances.deregister(lease.instance),
  ],
  ['P4 P13 the permit of a job is released when it is reaped', (t, lease) => reap(t, lease, 3)],
  ['P5 P13 the permit of a job is released when its crashes make it dead', (t, lease) => reap(t, lease, 1)],
  [
    'P4 P8 P13 the permit of a job is released when it is reaped after a cancel',
    async (t, lease) => {
      await t.store.cancel([lease.id], 'no')
      await reap(t, lease, 3)
    },
  ],
]

async function reap({ store, clock }: Bench, { id }: HeldLease, crashesUntilDead: number): Promise<void> {
  clock.advance(10_000)
  const { jobs } = await store.instances.reap({ crashesUntilDead, limit: 10 })
  assert.deepEqual(pluck(jobs, 'id'), [id])
}

const endCases = ENDS.map(([name, end]): Case =>
  test(name, async (t) => {
    const { store } = t
    await declarePermits(store, 2)
    // Another holder whose permit must stay.
    const bystander = await t.running({}, await t.worker({ leaseMs: 10 * HOUR }))
    assert.equal(await acquireOutcome(store, acquireFor(bystander)), 'granted')
    const lease = await t.running()
    assert.equal(await acquireOutcome(store, acquireFor(lease)), 'granted')
    assert.deepEqual([await heldOf(store), (await dbLimit(store)).available], [2, 0])
    await end(t, lease)
    assert.deepEqual([await heldOf(store), (await dbLimit(store)).available], [1, 1])
    assert.equal(await acquireOutcome(store, acquireFor(lease)), 'stale')
    assert.deepEqual(await store.limits.release([permitOf(lease)]), [false])
  }),
)

export const permitEndCases: readonly Case[] = [
  ...endCases,
  test('P4 P13 the permit of a job belongs to its attempt only, whichever instance requested it', async (t) => {
    const { store, running, worker, finish } = t
    await declarePermits(store, 5)
    const other = await worker()
    const lease = await running()
    assert.equal(await acquireOutcome(store, acquireFor(lease, { instance: other })), 'granted')
    await store.instances.deregister(other)
    assert.equal(await heldOf(store), 1)
    await finish(lease, DONE)
    assert.equal(await heldOf(store), 0)
  }),
  test('P13 the permits of a job in every limit are released at the end of its attempt', async (t) => {
    const { store, running, finish } = t
    await declarePermits(store, 5)
    await declarePermits(store, 5, 'cpu')
    const lease = await running()
    await store.limits.acquire([acquireFor(lease), acquireFor(lease, { limit: 'cpu', amount: 4 })])
    assert.deepEqual(pluck(await store.limits.list(), 'held'), [4, 1])
    await finish(lease, DONE)
    assert.deepEqual(pluck(await store.limits.list(), 'held'), [0, 0])
  }),
  test('P13 a refused finish releases nothing: the permits belong to the current attempt', async (t) => {
    const { store, finish, takenOver } = t
    await declarePermits(store, 5)
    const [old, lease] = await takenOver()
    await store.limits.acquire([acquireFor(lease)])
    assert.equal((await finish(old, DONE)).accepted, false)
    assert.equal(await heldOf(store), 1)
  }),
  test('P2 P13 an acquire racing the end of its attempt leaves no permit behind', async (t) => {
    const { store, another, running, worker } = t
    const other = await another()
    await declarePermits(store, 50)
    const instance = await worker()
    for (let round = 0; round < 15; round += 1) {
      const lease = await running({}, instance)
      await Promise.all([
        other.limits.acquire([acquireFor(lease)]),
        store.finish([aFinish(lease, round % 2 === 0 ? DONE : later(HOUR))]),
      ])
      assert.equal(await heldOf(store), 0)
    }
  }),
  test('P4 P13 an acquire racing the end of its instance leaves no permit behind', async (t) => {
    const { store, another, worker } = t
    const other = await another()
    await declarePermits(store, 50)
    for (let round = 0; round < 15; round += 1) {
      const instance = await worker()
      await Promise.all([
        other.limits.acquire([anAcquire('db', { instance })]),
        store.instances.deregister(instance),
      ])
      assert.equal(await heldOf(store), 0)
    }
  }),
  {
    name: 'P10 P13 a finish in a transaction of the user releases permits on commit, and not on rollback',
    needs: ['transactions'],
    async run({ store, running, transaction }) {
      await declarePermits(store, 1)
      const lease = await running()
      await store.limits.acquire([acquireFor(lease)])
      await transaction((tx) => store.finish([aFinish(lease, DONE)], { tx }), 'rollback')
      assert.equal(await heldOf(store), 1)
      await transaction((tx) => store.finish([aFinish(lease, DONE)], { tx }), 'commit')
      assert.equal(await heldOf(store), 0)
    },
  },
]
