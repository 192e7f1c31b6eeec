/** Leadership: each duty has one leader, for as long as its lease lasts by the database clock. */
import assert from 'node:assert/strict'
import type { DutyBid, DutyRecord, FullStore } from 'jobmill/store'
import { aHeartbeat } from '../../factories.ts'
import { HOUR } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck } from '../looks.ts'

function bids(...names: string[]): DutyBid[] {
  return names.map((name) => ({ name, succeededAgoMs: null, failures: 0 }))
}

/** The duties the instance leads after a heartbeat with these bids. */
async function leads(
  store: FullStore,
  instance: string,
  duties: readonly DutyBid[],
  renewEveryMs = 3_000,
): Promise<readonly string[]> {
  return (await store.instances.renew(aHeartbeat(instance, { duties, renewEveryMs }))).leads
}

async function dutyOf(store: FullStore, name: string): Promise<DutyRecord | undefined> {
  return (await store.instances.duties()).find((duty) => duty.name === name)
}

export const leadershipCases: readonly Case[] = [
  test('P9 a vacant duty goes to the instance that bids for it, for the length of a lease from this heartbeat', async (t) => {
    const { store, clock, worker } = t
    const id = await worker()
    assert.deepEqual(await store.instances.duties(), [])
    clock.advance(1_000)
    const heartbeat = await store.instances.renew(aHeartbeat(id, { duties: bids('reap'), leaseMs: 7_000 }))
    assert.deepEqual(heartbeat.leads, ['reap'])
    assert.deepEqual(await store.instances.duties(), [
      { name: 'reap', leader: id, expiresAt: clock.now() + 7_000, lastSuccessAt: null, failures: 0 },
    ])
  }),
  test('P9 a duty has one leader: a bid while its lease lasts gets nothing, and changes nothing', async (t) => {
    const { store, clock, worker } = t
    const [first, second] = [await worker(), await worker()]
    await leads(store, first, bids('reap'))
    const before = await store.instances.duties()
    clock.advance(9_999)
    const bid = [{ name: 'reap', succeededAgoMs: 5, failures: 7 }]
    assert.deepEqual(await leads(store, second, bid), [])
    assert.deepEqual(await store.instances.duties(), before)
  }),
  test('P4 P9 a lease ends with its last millisecond: first no leader, then another, and the former one learns it', async (t) => {
    const { store, clock, worker } = t
    const [first, second] = [await worker({ leaseMs: HOUR }), await worker({ leaseMs: HOUR })]
    await leads(store, first, bids('reap'), HOUR)
    clock.advance(10_000)
    hasFields(await dutyOf(store, 'reap'), { leader: null, expiresAt: null })
    assert.deepEqual(await leads(store, second, bids('reap'), HOUR), ['reap'])
    assert.deepEqual(await leads(store, first, bids('reap'), HOUR), [])
    assert.equal((await dutyOf(store, 'reap'))?.leader, second)
  }),
  test('a lease is renewed in the heartbeats that write the row of the instance, and P15 in no other', async (t) => {
    const { store, clock, worker } = t
    const id = await worker()
    await leads(store, id, bids('reap'))
    const duty = await dutyOf(store, 'reap')
    clock.advance(2_999)
    assert.deepEqual(await leads(store, id, bids('reap')), ['reap'])
    assert.deepEqual(await dutyOf(store, 'reap'), duty)
    clock.advance(1)
    assert.deepEqual(await leads(store, id, bids('reap')), ['reap'])
    assert.equal((await dutyOf(store, 'reap'))?.expiresAt, clock.now() + 10_000)
  }),
  test('P16 a renewal stores when a pass last succeeded, and how many failed since', async (t) => {
    const { store, clock, worker } = t
    const id = await worker()
    await leads(store, id, bids('reap'))
    clock.advance(3_000)
    await leads(store, id, [{ name: 'reap', succeededAgoMs: 400, failures: 0 }])
    const succeededAt = clock.now() - 400
    assert.equal((await dutyOf(store, 'reap'))?.lastSuccessAt, succeededAt)
    clock.advance(3_000)
    await leads(store, id, [{ name: 'reap', succeededAgoMs: 3_400, failures: 2 }])
    const { lastSuccessAt, failures } = (await dutyOf(store, 'reap')) ?? {}
    assert.deepEqual([lastSuccessAt, failures], [succeededAt, 2])
  }),
  test('P16 a leader without a success of its own keeps the stored one', async ({ store, clock, worker }) => {
    const [first, second] = [await worker(), await worker()]
    await leads(store, first, bids('reap'))
    clock.advance(3_000)
    await leads(store, first, [{ name: 'reap', succeededAgoMs: 100, failures: 0 }])
    const succeededAt = clock.now() - 100
    await store.instances.deregister(first)
    assert.deepEqual(await leads(store, second, bids('reap'), 0), ['reap'])
    assert.equal((await dutyOf(store, 'reap'))?.lastSuccessAt, succeededAt)
    clock.advance(3_000)
    await leads(store, second, bids('reap'))
    assert.equal((await dutyOf(store, 'reap'))?.lastSuccessAt, succeededAt)
  }),
  test('bids are answered by name; a duty that its leader no longer bids for expires', async (t) => {
    const { store, clock, worker } = t
    const [first, second] = [await worker(), await worker()]
    assert.deepEqual(await leads(store, first, bids('stage', 'reap', 'fold')), ['fold', 'reap', 'stage'])
    clock.advance(3_000)
    assert.deepEqual(await leads(store, first, bids('stage', 'reap')), ['reap', 'stage'])
    assert.deepEqual(await leads(store, first, []), [])
    assert.deepEqual(
      pluck(await store.instances.duties(), 'name', 'leader'),
      ['fold', 'reap', 'stage'].map((name) => [name, first]),
    )
    clock.advance(7_000)
    assert.deepEqual(await leads(store, second, bids('fold', 'reap')), ['fold'])
  }),
  test('P4 an instance that is lost, stopped or unknown takes none and leads none', async (t) => {
    const { store, endedInstances } = t
    for (const id of await endedInstances()) assert.deepEqual(await leads(store, id, bids('reap')), [])
    assert.deepEqual(await store.instances.duties(), [])
  }),
  test('P6 an instance that stops releases all its duties at once, and others take them over', async (t) => {
    const { store, worker } = t
    const [first, second] = [await worker(), await worker()]
    await leads(store, first, bids('fold', 'reap'))
    await leads(store, second, bids('stage'))
    await store.instances.deregister(first)
    assert.deepEqual(
      (await store.instances.duties()).map(({ name, leader, expiresAt }) => [
        name,
        leader,
        expiresAt === null,
      ]),
      [
        ['fold', null, true],
        ['reap', null, true],
        ['stage', second, false],
      ],
    )
    assert.deepEqual(await leads(store, second, bids('fold', 'reap')), ['fold', 'reap'])
  }),
  test('P4 a reaped instance releases its duties, even if their lease lasts longer than its own', async (t) => {
    const { store, clock, worker, reap } = t
    const [lost, other] = [await worker({ leaseMs: 500 }), await worker()]
    await leads(store, lost, bids('reap'))
    clock.advance(500)
    assert.equal((await dutyOf(store, 'reap'))?.leader, lost)
    await reap()
    assert.equal((await dutyOf(store, 'reap'))?.leader, null)
    assert.deepEqual(await leads(store, other, bids('reap')), ['reap'])
  }),
  test('P4 an instance that returns before it was reaped leads its untaken duties again', async (t) => {
    const { store, clock, worker } = t
    const [first, second] = [await worker(), await worker({ leaseMs: HOUR })]
    await leads(store, first, bids('fold', 'reap'))
    clock.advance(60_000)
    assert.deepEqual(await leads(store, second, bids('reap')), ['reap'])
    assert.deepEqual(await leads(store, first, bids('fold', 'reap')), ['fold'])
  }),
  test('P4 P9 concurrent heartbeats for a vacant duty: one leader, and all agree', async (t) => {
    const { store, another, clock, worker } = t
    const stores = [store, await another(), await another(), await another()]
    const ids = await Promise.all(stores.map(() => worker({ leaseMs: 10 * HOUR })))
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all(
        stores.map((each, n) => leads(each, ids[n] ?? '', bids('reap', 'stage'), HOUR)),
      )
      for (const name of ['reap', 'stage']) {
        const leaders = ids.filter((_, n) => answers[n]?.includes(name))
        assert.deepEqual(leaders, [(await dutyOf(store, name))?.leader])
      }
      clock.advance(10_000)
    }
  }),
  test('P9 a leader that renews concurrently with other bids keeps its duty', async (t) => {
    const { store, another, clock, worker } = t
    const stores = [store, await another(), await another()]
    const ids = await Promise.all(stores.map(() => worker()))
    assert.deepEqual(await leads(store, ids[0] ?? '', bids('reap')), ['reap'])
    for (let round = 0; round < 10; round += 1) {
      clock.advance(9_999)
      const answers = await Promise.all(stores.map((each, n) => leads(each, ids[n] ?? '', bids('reap'))))
      assert.deepEqual(answers, [['reap'], [], []])
    }
  }),
]
