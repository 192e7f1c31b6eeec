/** Rate limits are never exceeded, whichever store handle is used. Also draining, changing and deleting. */
import assert from 'node:assert/strict'
import type { AcquireRequest } from 'jobmill/store'
import { anAcquire, HOUR } from '../../factories.ts'
import type { Bench } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck, rejectsWith } from '../looks.ts'
import {
  acquireOutcome,
  apiLimit,
  countGranted,
  declare,
  draw,
  granted,
  grants,
  heldOf,
  patientRequest,
  permits,
  rate,
  respectsRate,
  settingsVersion,
  TEN,
} from './limit-helpers.ts'

const SINGLE = { ...TEN, burst: 1 }

/** Two requests in the wait list of a limit without a token. */
async function twoWaiting({ store }: Bench): Promise<[AcquireRequest, AcquireRequest]> {
  await declare(store, SINGLE)
  await draw(store)
  const [first, second] = [patientRequest(), patientRequest()]
  assert.deepEqual(pluck(await store.limits.acquire([first, second]), 'outcome'), ['later', 'later'])
  return [first, second]
}

export const limitCases: readonly Case[] = [
  test('a declared limit exists with its settings, and is full', async (t) => {
    await declare(t.store, TEN, 'b')
    await declare(t.store, permits(3), 'a')
    const full = { held: 0, nextInMs: 0, drainedMs: 0, keys: null }
    assert.deepEqual(await (await t.another()).limits.list(), [
      { name: 'a', settings: permits(3), available: 3, ...full },
      { name: 'b', settings: TEN, available: 2, ...full },
    ])
  }),
  test('declaring a limit again changes nothing; concurrent declarations from several handles make one', async (t) => {
    await declare(t.store)
    await draw(t.store)
    const before = [await t.store.limits.list(), await settingsVersion(t.store)]
    await declare(t.store)
    await t.store.limits.declare([])
    assert.deepEqual([await t.store.limits.list(), await settingsVersion(t.store)], before)
    const stores = await t.handles(3)
    await Promise.all(stores.map((each, n) => declare(each, permits(n + 1), 'new')))
    assert.deepEqual(pluck(await t.store.limits.list(), 'name'), ['api', 'new'])
  }),
  test('P13 gathered tokens are granted at once, and the next only when it is paid for', async (t) => {
    await declare(t.store)
    assert.deepEqual([await draw(t.store), await draw(t.store)], [granted(0), granted(0)])
    hasFields(await apiLimit(t.store), { available: 0, nextInMs: 100 })
    const late = anAcquire('api')
    assert.equal(await acquireOutcome(t.store, late), 'later')
    t.clock.advance(99)
    assert.equal(await acquireOutcome(t.store, late), 'later')
    t.clock.advance(1)
    assert.equal(await acquireOutcome(t.store, late), 'granted')
    t.clock.advance(HOUR)
    assert.equal((await apiLimit(t.store)).available, 2)
  }),
  test('P13 a request that can wait learns how long, and has its token then', async (t) => {
    await declare(t.store)
    for (const waitMs of [0, 0, 100, 200, 300])
      assert.deepEqual(await draw(t.store, { waitUpToMs: 300 }), granted(waitMs))
    assert.equal((await draw(t.store, { waitUpToMs: 300 })).outcome, 'later')
  }),
  test('P13 the items of one call are answered in order, each limit separately', async (t) => {
    await declare(t.store)
    await declare(t.store, SINGLE, 'other')
    const names = ['api', 'other', 'nope', 'api', 'other', 'api']
    const replies = await t.store.limits.acquire(names.map((name) => anAcquire(name)))
    const outcomes = ['granted', 'granted', 'unknown', 'granted', 'later', 'later']
    assert.deepEqual(pluck(replies, 'outcome'), outcomes)
    assert.deepEqual(await t.store.limits.acquire([]), [])
  }),
  test('P13 several tokens count as many, and more than the maximum are rejected and cost nothing', async (t) => {
    await declare(t.store, { ...TEN, burst: 5 })
    assert.deepEqual(await draw(t.store, { amount: 6 }), { outcome: 'never', most: 5 })
    assert.equal((await apiLimit(t.store)).available, 5)
    assert.equal((await draw(t.store, { amount: 4 })).outcome, 'granted')
    assert.equal((await apiLimit(t.store)).available, 1)
    assert.deepEqual(await draw(t.store, { amount: 5, waitUpToMs: 400 }), granted(400))
    t.clock.advance(400)
    assert.equal((await apiLimit(t.store)).available, 0)
  }),
  test('P13 no window grants more than burst and rate, whatever is requested through several handles', async (t) => {
    const stores = await t.handles(2)
    const settings = rate({ amount: 7, perMs: 100, burst: 3 })
    await declare(t.store, settings)
    const start = t.clock.now()
    const instants: number[] = []
    for (let round = 0; round < 40; round += 1) {
      const asked = [{ waitUpToMs: 20 }, { amount: 1 + (round % 3) }]
      instants.push(...pluck(await grants(stores, t.clock.now(), asked), 'at'))
      t.clock.advance((round * 7) % 23)
    }
    respectsRate(instants, settings)
    const most = 3 + (7 * (t.clock.now() + 20 - start)) / 100
    assert.ok(instants.length > most / 2, `only ${instants.length} of ${most} were granted`)
  }),
  test('P13 concurrent acquires through several handles never exceed the budget', async (t) => {
    const stores = await t.handles(3)
    await declare(t.store, { ...TEN, burst: 5 })
    for (const [round, burst] of [5, 2, 5].entries()) {
      const takes = Array.from({ length: 12 }, (_, n) => draw(stores[n % 3] ?? t.store))
      assert.equal(countGranted(await Promise.all(takes)), burst, `round ${round}`)
      t.clock.advance(round === 0 ? 200 : HOUR)
    }
  }),
  test('P13 a denied request goes before new ones when it returns', async (t) => {
    const [first, second] = await twoWaiting(t)
    t.clock.advance(50)
    assert.equal((await draw(t.store, { waitUpToMs: 1_000 })).outcome, 'later')
    assert.deepEqual(await draw(t.store, { ...second, waitUpToMs: 1_000 }), granted(50))
    assert.deepEqual(await draw(t.store, { ...first, waitUpToMs: 1_000 }), granted(150))
  }),
  test('P13 a request that only tries takes no place, and blocks no waiter', async (t) => {
    await declare(t.store, SINGLE)
    await draw(t.store)
    const tries = await Promise.all(Array.from({ length: 5 }, () => draw(t.store)))
    assert.deepEqual(new Set(tries.map(({ outcome }) => outcome)), new Set(['later']))
    assert.deepEqual(await draw(t.store, { waitUpToMs: 100 }), granted(100))
  }),
  test('P13 a grant uses up the place in the wait list: the next request starts at its end', async (t) => {
    const [first] = await twoWaiting(t)
    t.clock.advance(100)
    assert.equal(await acquireOutcome(t.store, first), 'granted')
    // The second is still in the wait list.
    assert.equal(await acquireOutcome(t.store, { ...first, waitUpToMs: 1_000 }), 'later')
  }),
  test('a rate needs neither a job nor a running instance', async (t) => {
    await declare(t.store)
    assert.equal((await draw(t.store, { token: 77 })).outcome, 'granted')
    assert.deepEqual(await t.store.limits.release([anAcquire('api')]), [false])
    assert.equal(await heldOf(t.store), 0)
  }),
  test('creating, changing and deleting a limit changes the version of the settings, P15 and nothing else does', async (t) => {
    let version = await settingsVersion(t.store)
    const changes = async (act: () => Promise<unknown>): Promise<void> => {
      await act()
      const next = await settingsVersion(t.store)
      assert.notEqual(next, version)
      version = next
    }
    await changes(() => declare(t.store))
    await changes(() => t.store.limits.change('api', { ...TEN, amount: 11 }))
    await draw(t.store)
    await t.store.limits.drain('api', 5)
    assert.equal(await settingsVersion(t.store), version)
    await changes(() => t.store.limits.delete('api'))
  }),
  test('P13 a drain grants nothing for its time, then one, and the others at the rate', async (t) => {
    await declare(t.store, { ...TEN, burst: 5 })
    const drained = await t.store.limits.drain('api', 3_000)
    hasFields(drained, { available: 0, nextInMs: 3_000, drainedMs: 3_000 })
    assert.deepEqual(await t.store.limits.list(), [drained])
    t.clock.advance(2_999)
    assert.equal((await draw(t.store)).outcome, 'later')
    assert.equal((await apiLimit(t.store)).drainedMs, 1)
    t.clock.advance(1)
    const takes = await Promise.all(Array.from({ length: 5 }, () => draw(t.store)))
    assert.equal(countGranted(takes), 1)
    t.clock.advance(100)
    assert.equal((await apiLimit(t.store)).available, 1)
    await rejectsWith('LIMIT_UNKNOWN', () => t.store.limits.drain('nope', 5))
  }),
  test('P13 a drain never shortens a longer one, and one without a time removes the gathered tokens', async (t) => {
    await declare(t.store, { ...TEN, burst: 5 })
    assert.equal((await t.store.limits.drain('api', 0)).available, 0)
    t.clock.advance(300)
    assert.equal((await apiLimit(t.store)).available, 3)
    await t.store.limits.drain('api', 5_000)
    assert.equal((await t.store.limits.drain('api', 10)).drainedMs, 5_000)
  }),
  test('P13 a changed rate applies from now on; tokens granted before are still owed', async (t) => {
    await declare(t.store, rate({ amount: 1, perMs: 1_000, burst: 4 }))
    await draw(t.store, { amount: 4 })
    const faster = rate({ amount: 10, perMs: 1_000, burst: 4 })
    const changed = await t.store.limits.change('api', faster)
    assert.deepEqual([changed.settings, changed.available, changed.nextInMs], [faster, 0, 100])
    assert.deepEqual(await t.store.limits.list(), [changed])
    t.clock.advance(200)
    assert.equal((await apiLimit(t.store)).available, 2)
    await rejectsWith('LIMIT_UNKNOWN', () => t.store.limits.change('nope', faster))
  }),
  test('P13 a change clears the wait list, which was made for another rate', async (t) => {
    const [first] = await twoWaiting(t)
    await t.store.limits.change('api', SINGLE)
    // The wait list is empty, so a new request is granted.
    assert.equal((await draw(t.store, { waitUpToMs: 1_000 })).outcome, 'granted')
    await t.store.limits.acquire([patientRequest()])
    assert.equal(await acquireOutcome(t.store, { ...first, waitUpToMs: 1_000 }), 'later')
  }),
  test('a limit may change its type', async (t) => {
    await declare(t.store)
    await draw(t.store, { amount: 2 })
    assert.equal((await t.store.limits.change('api', permits(4))).available, 4)
    hasFields(await t.store.limits.change('api', TEN), { settings: TEN, available: 2, held: 0 })
    t.clock.advance(1)
    assert.equal((await draw(t.store)).outcome, 'granted')
  }),
  test('a deleted limit is unknown, and one that is declared again starts fresh', async (t) => {
    assert.equal(await t.store.limits.delete('api'), false)
    await declare(t.store, SINGLE)
    await draw(t.store)
    const late = patientRequest()
    await t.store.limits.acquire([late])
    assert.equal(await t.store.limits.delete('api'), true)
    assert.equal(await t.store.limits.delete('api'), false)
    assert.deepEqual(await t.store.limits.list(), [])
    assert.deepEqual(await draw(t.store), { outcome: 'unknown' })
    await declare(t.store, SINGLE)
    assert.equal((await apiLimit(t.store)).available, 1)
    await t.store.limits.acquire([patientRequest(), patientRequest()])
    // The late request has lost its place.
    assert.equal(await acquireOutcome(t.store, { ...late, waitUpToMs: 1_000 }), 'later')
  }),
  test('P13 a change racing acquires loses none of them', async (t) => {
    const other = await t.another()
    await declare(t.store, rate({ amount: 1, perMs: HOUR, burst: 8 }))
    let tokens = 0
    for (let round = 0; round < 6; round += 1) {
      const [replies] = await Promise.all([
        Promise.all([draw(t.store), draw(t.store)]),
        other.limits.change('api', rate({ amount: 1, perMs: HOUR + round, burst: 8 })),
      ])
      tokens += countGranted(replies)
    }
    assert.equal(tokens, 8)
    assert.equal((await apiLimit(t.store)).available, 0)
  }),
]
