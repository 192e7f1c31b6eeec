/** Limits that are a number of holders at once: permits, and everything that gives one back. */
import assert from 'node:assert/strict'
import type { Lease } from '../../store/claim.ts'
import type { LimitRecord, Take, Taken } from '../../store/limit.ts'
import type { Store } from '../../store/store.ts'
import { anInstance, aTake } from '../factories.ts'
import { aFinish, type Bench, DEAD, DONE, HOUR, later, only, RELEASED } from './bench.ts'
import type { Case } from './case.ts'

type Held = Lease & { readonly instance: string }

async function declare(store: Store, most: number, name = 'db'): Promise<void> {
  await store.declareLimits([{ name, settings: { type: 'concurrency', most } }])
}

async function db(store: Store): Promise<LimitRecord> {
  const found = (await store.limits()).find(({ name }) => name === 'db')
  assert.ok(found, 'there is no limit db')
  return found
}

async function heldOf(store: Store): Promise<number> {
  return (await db(store)).held
}

/** What a job that runs under this lease asks for. */
function takeFor({ id, token, instance }: Held, overrides: Partial<Take> = {}): Take {
  return aTake('db', { holder: id, token, instance, ...overrides })
}

async function take(store: Store, item: Take): Promise<Taken['outcome']> {
  return only(await store.take([item])).outcome
}

/** Every way an attempt can end. */
const ENDS: readonly (readonly [string, (t: Bench, lease: Held) => Promise<unknown>])[] = [
  ['P13 the permit of a job goes when it is done', (t, lease) => t.finish(lease, DONE)],
  ['P13 the permit of a job goes when it is dead', (t, lease) => t.finish(lease, DEAD)],
  ['P13 the permit of a job goes when it is retried later', (t, lease) => t.finish(lease, later(500))],
  ['P13 the permit of a job goes when it is retried at once', (t, lease) => t.finish(lease, later(0))],
  [
    'P13 the permit of a job goes when it is snoozed',
    (t, lease) => t.finish(lease, later(500, { refund: true }), { outcome: 'snoozed' }),
  ],
  ['P13 the permit of a job goes when it is released', (t, lease) => t.finish(lease, RELEASED)],
  [
    'P8 P13 the permit of a job goes when its cancel is carried out, and not when it is asked for',
    async (t, lease) => {
      await t.store.cancel([lease.id], 'no')
      assert.equal(await heldOf(t.store), 2)
      await t.finish(lease, later(500))
    },
  ],
  [
    'P6 P13 the permit of a job goes when its instance stops and hands it back',
    (t, lease) => t.store.deregister(lease.instance),
  ],
  ['P4 P13 the permit of a job goes when it is reaped', (t, lease) => reap(t, lease, 3)],
  ['P5 P13 the permit of a job goes when its crashes make it dead', (t, lease) => reap(t, lease, 1)],
  [
    'P4 P8 P13 the permit of a job goes when it is reaped after a cancel',
    async (t, lease) => {
      await t.store.cancel([lease.id], 'no')
      await reap(t, lease, 3)
    },
  ],
]

async function reap({ store, clock }: Bench, { id }: Held, crashesUntilDead: number): Promise<void> {
  clock.advance(10_000)
  const { jobs } = await store.reap({ crashesUntilDead, limit: 10 })
  assert.deepEqual(
    jobs.map((job) => job.id),
    [id],
  )
}

const endCases = ENDS.map(([name, end]): Case => ({
  name,
  async run(t) {
    const { store } = t
    await declare(store, 2)
    // Somebody whose permit must stay.
    const bystander = await t.running({}, await t.worker({ leaseMs: 10 * HOUR }))
    assert.equal(await take(store, takeFor(bystander)), 'granted')
    const lease = await t.running()
    assert.equal(await take(store, takeFor(lease)), 'granted')
    assert.deepEqual([await heldOf(store), (await db(store)).available], [2, 0])
    await end(t, lease)
    assert.deepEqual([await heldOf(store), (await db(store)).available], [1, 1])
    assert.equal(await take(store, takeFor(lease)), 'stale')
    assert.deepEqual(await store.giveBack([{ limit: 'db', holder: lease.id }]), [false])
  },
}))

export const permitCases: readonly Case[] = [
  {
    name: 'P13 permits are given out until there is none, and then it is later',
    async run({ store, running }) {
      await declare(store, 2)
      const leases = [await running(), await running(), await running()]
      const replies = []
      for (const lease of leases)
        replies.push(only(await store.take([takeFor(lease, { waitUpToMs: 1_000 })])))
      assert.deepEqual(replies.slice(0, 2), [
        { outcome: 'granted', waitMs: 0 },
        { outcome: 'granted', waitMs: 0 },
      ])
      assert.ok(replies[2]?.outcome === 'later' && replies[2].inMs > 0)
      const { available, held, nextInMs } = await db(store)
      assert.deepEqual([available, held, nextInMs], [0, 2, null])
    },
  },
  ...endCases,
  {
    name: 'P13 takes at once through several handles never exceed the limit',
    async run({ store, another, running, worker, finish }) {
      const stores = [store, await another(), await another()]
      await declare(store, 3)
      const instance = await worker()
      for (let round = 0; round < 5; round += 1) {
        const leases = []
        for (let n = 0; n < 9; n += 1) leases.push(await running({}, instance))
        const replies = await Promise.all(
          leases.map((lease, n) => take(stores[n % 3] ?? store, takeFor(lease))),
        )
        assert.equal(replies.filter((outcome) => outcome === 'granted').length, 3)
        assert.equal(await heldOf(store), 3)
        await Promise.all(leases.map((lease) => finish(lease, DONE)))
        assert.equal(await heldOf(store), 0)
      }
    },
  },
  {
    name: 'P2 P13 a permit is given only under the current token of a running job',
    async run({ store, clock, enqueue, running, worker, claimOne }) {
      await declare(store, 5)
      const old = await running({ kind: 'again' })
      clock.advance(10_000)
      await store.reap({ crashesUntilDead: 3, limit: 10 })
      const lease = await claimOne(await worker(), { kinds: ['again'] })
      const waiting = await enqueue()
      const { token } = lease
      const stale = [
        takeFor(old),
        takeFor(lease, { token: token + 1 }),
        takeFor(lease, { holder: waiting }),
        takeFor(lease, { holder: anInstance().id }),
      ]
      for (const item of stale) assert.equal(await take(store, item), 'stale')
      assert.equal(await heldOf(store), 0)
      assert.equal(await take(store, takeFor(lease)), 'granted')
    },
  },
  {
    name: 'P4 P13 a holder outside of jobs needs a living instance',
    async run({ store, clock, worker }) {
      await declare(store, 5)
      const [lost, stopped] = [await worker(), await worker({ leaseMs: HOUR })]
      clock.advance(10_000)
      await store.reap({ crashesUntilDead: 3, limit: 10 })
      await store.deregister(stopped)
      const [expired, alive] = [await worker({ leaseMs: 1 }), await worker()]
      clock.advance(1)
      for (const instance of [lost, stopped, expired, anInstance().id])
        assert.equal(await take(store, aTake('db', { instance })), 'stale')
      assert.equal(await heldOf(store), 0)
      assert.equal(await take(store, aTake('db', { instance: alive })), 'granted')
      assert.equal(await heldOf(store), 1)
    },
  },
  {
    name: 'P4 P6 P13 the permits of other holders go when their instance stops or is lost, and no others',
    async run({ store, clock, worker }) {
      await declare(store, 9)
      await declare(store, 9, 'more')
      const [lost, stopped, alive] = [
        await worker(),
        await worker({ leaseMs: HOUR }),
        await worker({ leaseMs: HOUR }),
      ]
      for (const instance of [lost, stopped, alive])
        await store.take([
          aTake('db', { instance, amount: 2 }),
          aTake('db', { instance }),
          aTake('more', { instance }),
        ])
      assert.equal(await heldOf(store), 9)
      await store.deregister(stopped)
      assert.equal(await heldOf(store), 6)
      clock.advance(10_000)
      assert.equal(await heldOf(store), 6)
      await store.reap({ crashesUntilDead: 3, limit: 10 })
      assert.deepEqual(
        (await store.limits()).map(({ held }) => held),
        [3, 1],
      )
    },
  },
  {
    name: 'P4 P13 the permit of a job goes with its attempt alone, whichever instance asked for it',
    async run({ store, running, worker, finish }) {
      await declare(store, 5)
      const other = await worker()
      const lease = await running()
      assert.equal(await take(store, takeFor(lease, { instance: other })), 'granted')
      await store.deregister(other)
      assert.equal(await heldOf(store), 1)
      await finish(lease, DONE)
      assert.equal(await heldOf(store), 0)
    },
  },
  {
    name: 'P13 a permit can be given back before the end, once',
    async run({ store, running }) {
      await declare(store, 1)
      const [lease, other] = [await running(), await running()]
      await store.take([takeFor(lease)])
      const back = [
        { limit: 'db', holder: other.id },
        { limit: 'nope', holder: lease.id },
        { limit: 'db', holder: lease.id },
        { limit: 'db', holder: lease.id },
      ]
      assert.deepEqual(await store.giveBack(back), [false, false, true, false])
      assert.deepEqual(await store.giveBack([]), [])
      assert.equal(await take(store, takeFor(other)), 'granted')
    },
  },
  {
    name: 'P13 what a holder takes is added to what it has, and goes back together',
    async run({ store, running }) {
      await declare(store, 5)
      const lease = await running()
      assert.equal(await take(store, takeFor(lease, { amount: 2 })), 'granted')
      assert.equal(await take(store, takeFor(lease, { amount: 3 })), 'granted')
      assert.equal(await take(store, takeFor(lease)), 'later')
      assert.equal(await heldOf(store), 5)
      assert.deepEqual(only(await store.take([takeFor(lease, { amount: 6 })])), { outcome: 'never', most: 5 })
      assert.deepEqual(await store.giveBack([{ limit: 'db', holder: lease.id }]), [true])
      assert.equal(await heldOf(store), 0)
    },
  },
  {
    name: 'P13 the permits of a job in every limit go with the end of its attempt',
    async run({ store, running, finish }) {
      await declare(store, 5)
      await declare(store, 5, 'cpu')
      const lease = await running()
      await store.take([takeFor(lease), takeFor(lease, { limit: 'cpu', amount: 4 })])
      assert.deepEqual(
        (await store.limits()).map(({ held }) => held),
        [4, 1],
      )
      await finish(lease, DONE)
      assert.deepEqual(
        (await store.limits()).map(({ held }) => held),
        [0, 0],
      )
    },
  },
  {
    name: 'P13 a refused finish gives nothing back: the permits belong to the attempt that runs now',
    async run({ store, clock, running, worker, claimOne, finish }) {
      await declare(store, 5)
      const old = await running({ kind: 'again' })
      clock.advance(10_000)
      await store.reap({ crashesUntilDead: 3, limit: 10 })
      const lease = await claimOne(await worker(), { kinds: ['again'] })
      await store.take([takeFor(lease)])
      assert.equal((await finish(old, DONE)).accepted, false)
      assert.equal(await heldOf(store), 1)
    },
  },
  {
    name: 'P13 whoever holds a permit keeps it when the number sinks, and nobody gets one until there is room',
    async run({ store, running, finish }) {
      await declare(store, 3)
      const leases = [await running(), await running(), await running()]
      for (const lease of leases) await store.take([takeFor(lease)])
      const changed = await store.changeLimit('db', { type: 'concurrency', most: 1 })
      assert.deepEqual([changed.held, changed.available, changed.nextInMs], [3, 0, null])
      const newcomer = await running()
      for (const lease of leases) {
        assert.equal(await take(store, takeFor(newcomer)), 'later')
        await finish(lease, DONE)
      }
      assert.equal(await take(store, takeFor(newcomer)), 'granted')
    },
  },
  {
    name: 'P13 the permits of a limit go with it',
    async run({ store, running }) {
      await declare(store, 1)
      const lease = await running()
      await store.take([takeFor(lease)])
      await store.deleteLimit('db')
      await declare(store, 1)
      assert.equal(await heldOf(store), 0)
      assert.deepEqual(await store.giveBack([{ limit: 'db', holder: lease.id }]), [false])
    },
  },
  {
    name: 'P13 a drain holds permits back for so long, and takes none away',
    async run({ store, clock, running }) {
      await declare(store, 2)
      const [first, second] = [await running(), await running()]
      await store.take([takeFor(first)])
      const drained = await store.drain('db', 3_000)
      assert.deepEqual([drained.held, drained.available, drained.drainedMs], [1, 0, 3_000])
      assert.equal(drained.nextInMs, 3_000)
      clock.advance(2_999)
      assert.equal(await take(store, takeFor(second)), 'later')
      clock.advance(1)
      assert.equal(await take(store, takeFor(second)), 'granted')
    },
  },
  {
    name: 'P2 P13 a take racing the end of its attempt leaves no permit behind',
    async run({ store, another, running, worker }) {
      const other = await another()
      await declare(store, 50)
      const instance = await worker()
      for (let round = 0; round < 15; round += 1) {
        const lease = await running({}, instance)
        await Promise.all([
          other.take([takeFor(lease)]),
          store.finish([aFinish(lease, round % 2 === 0 ? DONE : later(HOUR))]),
        ])
        assert.equal(await heldOf(store), 0)
      }
    },
  },
  {
    name: 'P4 P13 a take racing the end of its instance leaves no permit behind',
    async run({ store, another, worker }) {
      const other = await another()
      await declare(store, 50)
      for (let round = 0; round < 15; round += 1) {
        const instance = await worker()
        await Promise.all([other.take([aTake('db', { instance })]), store.deregister(instance)])
        assert.equal(await heldOf(store), 0)
      }
    },
  },
  {
    name: 'P10 P13 a finish in a transaction of the user gives permits back with the commit, and not without',
    async run({ store, running, transaction }) {
      await declare(store, 1)
      const lease = await running()
      await store.take([takeFor(lease)])
      await transaction((tx) => store.finish([aFinish(lease, DONE)], { tx }), 'rollback')
      assert.equal(await heldOf(store), 1)
      await transaction((tx) => store.finish([aFinish(lease, DONE)], { tx }), 'commit')
      assert.equal(await heldOf(store), 0)
    },
  },
]
