/** Leadership: each duty has one leader, for as long as its lease lasts by the database clock. */
import assert from 'node:assert/strict'
import type { DutyBid, DutyRecord, FullStore } from 'jobmill/store'
import { aHeartbeat, HOUR } from '../../factories.ts'
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
    const id = await t.worker()
    assert.deepEqual(await t.store.instances.duties(), [])
    t.clock.advance(1_000)
    const heartbeat = await t.renew(id, { duties: bids('reap'), leaseMs: 7_000 })
    assert.deepEqual(heartbeat.leads, ['reap'])
    assert.deepEqual(await t.store.instances.duties(), [
      { name: 'reap', leader: id, expiresAt: t.clock.now() + 7_000, lastSuccessAt: null, failures: 0 },
    ])
  }),
  test('P9 a duty has one leader: a bid while its lease lasts gets nothing, and changes nothing', async (t) => {
    const [first, second] = [await t.worker(), await t.worker()]
    await leads(t.store, first, bids('reap'))
    const before = await t.store.instances.duties()
    t.clock.advance(9_999)
    const bid = [{ name: 'reap', succeededAgoMs: 5, failures: 7 }]
    assert.deepEqual(await leads(t.store, second, bid), [])
    assert.deepEqual(await t.store.instances.duties(), before)
  }),
  test('P4 P9 a lease ends with its last millisecond: first no leader, then another, and the former one learns it', async (t) => {
    const [first, second] = [await t.worker({ leaseMs: HOUR }), await t.worker({ leaseMs: HOUR })]
    await leads(t.store, first, bids('reap'), HOUR)
    t.clock.advance(10_000)
    hasFields(await dutyOf(t.store, 'reap'), { leader: null, expiresAt: null })
    assert.deepEqual(await leads(t.store, second, bids('reap'), HOUR), ['reap'])
    assert.deepEqual(await leads(t.store, first, bids('reap'), HOUR), [])
    assert.equal((await dutyOf(t.store, 'reap'))?.leader, second)
  }),
  test('a lease is renewed in the heartbeats that write the row of the instance, and P15 in no other', async (t) => {
    const id = await t.worker()
    await leads(t.store, id, bids('reap'))
    const duty = await dutyOf(t.store, 'reap')
    t.clock.advance(2_999)
    assert.deepEqual(await leads(t.store, id, bids('reap')), ['reap'])
    assert.deepEqual(await dutyOf(t.store, 'reap'), duty)
    t.clock.advance(1)
    assert.deepEqual(await leads(t.store, id, bids('reap')), ['reap'])
    assert.equal((await dutyOf(t.store, 'reap'))?.expiresAt, t.clock.now() + 10_000)
  }),
  test('P16 a renewal stores when a pass last succeeded, and how many failed since', async (t) => {
    const id = await t.worker()
    await leads(t.store, id, bids('reap'))
    t.clock.advance(3_000)
    await leads(t.store, id, [{ name: 'reap', succeededAgoMs: 400, failures: 0 }])
    const succeededAt = t.clock.now() - 400
    assert.equal((await dutyOf(t.store, 'reap'))?.lastSuccessAt, succeededAt)
    t.clock.advance(3_000)
    await leads(t.store, id, [{ name: 'reap', succeededAgoMs: 3_400, failures: 2 }])
    hasFields(await dutyOf(t.store, 'reap'), { lastSuccessAt: succeededAt, failures: 2 })
  }),
  test('P16 a leader without a success of its own keeps the stored one', async (t) => {
    const [first, second] = [await t.worker(), await t.worker()]
    await leads(t.store, first, bids('reap'))
    t.clock.advance(3_000)
    await leads(t.store, first, [{ name: 'reap', succeededAgoMs: 100, failures: 0 }])
    const succeededAt = t.clock.now() - 100
    await t.store.instances.deregister(first)
    assert.deepEqual(await leads(t.store, second, bids('reap'), 0), ['reap'])
    assert.equal((await dutyOf(t.store, 'reap'))?.lastSuccessAt, succeededAt)
    t.clock.advance(3_000)
    await leads(t.store, second, bids('reap'))
    assert.equal((await dutyOf(t.store, 'reap'))?.lastSuccessAt, succeededAt)
  }),
  test('bids are answered by name; a duty that its leader no longer bids for expires', async (t) => {
    const [first, second] = [await t.worker(), await t.worker()]
    assert.deepEqual(await leads(t.store, first, bids('stage', 'reap', 'fold')), ['fold', 'reap', 'stage'])
    t.clock.advance(3_000)
    assert.deepEqual(await leads(t.store, first, bids('stage', 'reap')), ['reap', 'stage'])
    assert.deepEqual(await leads(t.store, first, []), [])
    assert.deepEqual(
      pluck(await t.store.instances.duties(), 'name', 'leader'),
      ['fold', 'reap', 'stage'].map((name) => [name, first]),
    )
    t.clock.advance(7_000)
    assert.deepEqual(await leads(t.store, second, bids('fold', 'reap')), ['fold'])
  }),
  test('P4 an instance that is lost, stopped or unknown takes none and leads none', async (t) => {
    for (const id of await t.endedInstances()) assert.deepEqual(await leads(t.store, id, bids('reap')), [])
    assert.deepEqual(await t.store.instances.duties(), [])
  }),
  test('P6 an instance that stops releases all its duties at once, and others take them over', async (t) => {
    const [first, second] = [await t.worker(), await t.worker()]
    await leads(t.store, first, bids('fold', 'reap'))
    await leads(t.store, second, bids('stage'))
    await t.store.instances.deregister(first)
    assert.deepEqual(pluck(await t.store.instances.duties(), 'name', 'leader', 'expiresAt'), [
      ['fold', null, null],
      ['reap', null, null],
      ['stage', second, t.clock.now() + 10_000],
    ])
    assert.deepEqual(await leads(t.store, second, bids('fold', 'reap')), ['fold', 'reap'])
  }),
  test('P4 a reaped instance releases its duties, even if their lease lasts longer than its own', async (t) => {
    const [lost, other] = [await t.worker({ leaseMs: 500 }), await t.worker()]
    await leads(t.store, lost, bids('reap'))
    t.clock.advance(500)
    assert.equal((await dutyOf(t.store, 'reap'))?.leader, lost)
    await t.reap()
    assert.equal((await dutyOf(t.store, 'reap'))?.leader, null)
    assert.deepEqual(await leads(t.store, other, bids('reap')), ['reap'])
  }),
  test('P4 an instance that returns before it was reaped leads its untaken duties again', async (t) => {
    const [first, second] = [await t.worker(), await t.worker({ leaseMs: HOUR })]
    await leads(t.store, first, bids('fold', 'reap'))
    t.clock.advance(60_000)
    assert.deepEqual(await leads(t.store, second, bids('reap')), ['reap'])
    assert.deepEqual(await leads(t.store, first, bids('fold', 'reap')), ['fold'])
  }),
  test('P4 P9 concurrent heartbeats for a vacant duty: one leader, and all agree', async (t) => {
    const stores = await t.handles(4)
    const ids = await Promise.all(stores.map(() => t.worker({ leaseMs: 10 * HOUR })))
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all(
        stores.map((each, n) => leads(each, ids[n] ?? '', bids('reap', 'stage'), HOUR)),
      )
      for (const name of ['reap', 'stage']) {
        const leaders = ids.filter((_, n) => answers[n]?.includes(name))
        assert.deepEqual(leaders, [(await dutyOf(t.store, name))?.leader])
      }
      t.clock.advance(10_000)
    }
  }),
  test('P9 a leader that renews concurrently with other bids keeps its duty', async (t) => {
    const stores = await t.handles(3)
    const ids = await Promise.all(stores.map(() => t.worker()))
    assert.deepEqual(await leads(t.store, ids[0] ?? '', bids('reap')), ['reap'])
    for (let round = 0; round < 10; round += 1) {
      t.clock.advance(9_999)
      const answers = await Promise.all(stores.map((each, n) => leads(each, ids[n] ?? '', bids('reap'))))
      assert.deepEqual(answers, [['reap'], [], []])
    }
  }),
]
