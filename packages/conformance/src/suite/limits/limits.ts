/** Rate limits: never exceeded, whichever handle a request uses. */
import assert from 'node:assert/strict'
import type { LimitSettings, RateSettings } from 'jobmill/store'
import { anAcquire } from '../../factories.ts'
import { HOUR } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck, repeat } from '../looks.ts'
import {
  acquireOutcome,
  respectsRate,
  granted,
  apiLimit,
  countGranted,
  declare,
  draw,
  patientRequest,
  settingsVersion,
  TEN,
} from './limit-helpers.ts'

export const limitCases: readonly Case[] = [
  test('a declared limit exists with its settings, and is full', async ({ store, another }) => {
    const other: LimitSettings = { type: 'concurrency', most: 3 }
    await store.limits.declare([
      { name: 'b', settings: TEN },
      { name: 'a', settings: other },
    ])
    const full = { held: 0, nextInMs: 0, drainedMs: 0, keys: null }
    assert.deepEqual(await (await another()).limits.list(), [
      { name: 'a', settings: other, available: 3, ...full },
      { name: 'b', settings: TEN, available: 2, ...full },
    ])
  }),
  test('declaring a limit again changes nothing; concurrent declarations from several handles make one', async (t) => {
    const { store, another } = t
    await declare(store)
    await draw(store)
    const before = [await store.limits.list(), await settingsVersion(store)]
    await declare(store)
    await store.limits.declare([])
    assert.deepEqual([await store.limits.list(), await settingsVersion(store)], before)
    const stores = [store, await another(), await another()]
    await Promise.all(
      stores.map((each, n) =>
        each.limits.declare([{ name: 'new', settings: { type: 'concurrency', most: n + 1 } }]),
      ),
    )
    assert.deepEqual(pluck(await store.limits.list(), 'name'), ['api', 'new'])
  }),
  test('P13 gathered tokens are granted at once, and the next only when it is paid for', async (t) => {
    const { store, clock } = t
    await declare(store)
    assert.deepEqual([await draw(store), await draw(store)], [granted(0), granted(0)])
    hasFields(await apiLimit(store), { available: 0, nextInMs: 100 })
    const late = anAcquire('api')
    assert.equal(await acquireOutcome(store, late), 'later')
    clock.advance(99)
    assert.equal(await acquireOutcome(store, late), 'later')
    clock.advance(1)
    assert.equal(await acquireOutcome(store, late), 'granted')
    clock.advance(HOUR)
    assert.equal((await apiLimit(store)).available, 2)
  }),
  test('P13 a request that can wait learns how long, and has its token then', async ({ store }) => {
    await declare(store)
    for (const waitMs of [0, 0, 100, 200, 300])
      assert.deepEqual(await draw(store, { waitUpToMs: 300 }), granted(waitMs))
    assert.equal((await draw(store, { waitUpToMs: 300 })).outcome, 'later')
  }),
  test('P13 the items of one call are answered in order, each limit separately', async ({ store }) => {
    await declare(store)
    await store.limits.declare([{ name: 'other', settings: { ...TEN, burst: 1 } }])
    const names = ['api', 'other', 'nope', 'api', 'other', 'api']
    const replies = await store.limits.acquire(names.map((name) => anAcquire(name)))
    assert.deepEqual(pluck(replies, 'outcome'), [
      'granted',
      'granted',
      'unknown',
      'granted',
      'later',
      'later',
    ])
    assert.deepEqual(await store.limits.acquire([]), [])
  }),
  test('P13 several tokens count as many, and more than the maximum are rejected and cost nothing', async (t) => {
    const { store, clock } = t
    await declare(store, { ...TEN, burst: 5 })
    assert.deepEqual(await draw(store, { amount: 6 }), { outcome: 'never', most: 5 })
    assert.equal((await apiLimit(store)).available, 5)
    assert.equal((await draw(store, { amount: 4 })).outcome, 'granted')
    assert.equal((await apiLimit(store)).available, 1)
    assert.deepEqual(await draw(store, { amount: 5, waitUpToMs: 400 }), granted(400))
    clock.advance(400)
    assert.equal((await apiLimit(store)).available, 0)
  }),
  test('P13 no window grants more than burst and rate, whatever is requested through several handles', async (t) => {
    const { store, another, clock } = t
    const stores = [store, await another()]
    const rate: RateSettings = { type: 'rate', amount: 7, perMs: 100, burst: 3 }
    await declare(store, rate)
    const start = clock.now()
    const instants: number[] = []
    for (let round = 0; round < 40; round += 1) {
      const asked = [{ waitUpToMs: 20, amount: 1 }, { amount: 1 + (round % 3) }]
      const replies = stores.map((each) => each.limits.acquire(asked.map((one) => anAcquire('api', one))))
      for (const acquired of await Promise.all(replies))
        for (const [n, reply] of acquired.entries())
          if (reply.outcome === 'granted')
            instants.push(...repeat(clock.now() + reply.waitMs, asked[n]?.amount ?? 0))
      clock.advance((round * 7) % 23)
    }
    respectsRate(instants, rate)
    const most = 3 + (7 * (clock.now() + 20 - start)) / 100
    assert.ok(instants.length > most / 2, `only ${instants.length} of ${most} were granted`)
  }),
  test('P13 concurrent acquires through several handles never exceed the budget', async (t) => {
    const { store, another, clock } = t
    const stores = [store, await another(), await another()]
    await declare(store, { ...TEN, burst: 5 })
    for (const [round, burst] of [5, 2, 5].entries()) {
      const takes = Array.from({ length: 12 }, (_, n) => draw(stores[n % 3] ?? store))
      assert.equal(countGranted(await Promise.all(takes)), burst, `round ${round}`)
      clock.advance(round === 0 ? 200 : HOUR)
    }
  }),
  test('P13 a denied request goes before new ones when it returns', async ({ store, clock }) => {
    await declare(store, { ...TEN, burst: 1 })
    await draw(store)
    const [first, second] = [patientRequest(), patientRequest()]
    assert.equal(await acquireOutcome(store, first), 'later')
    assert.equal(await acquireOutcome(store, second), 'later')
    clock.advance(50)
    assert.equal((await draw(store, { waitUpToMs: 1_000 })).outcome, 'later')
    assert.deepEqual(await draw(store, { ...second, waitUpToMs: 1_000 }), granted(50))
    assert.deepEqual(await draw(store, { ...first, waitUpToMs: 1_000 }), granted(150))
  }),
  test('P13 a request that only tries takes no place, and blocks no waiter', async ({ store }) => {
    await declare(store, { ...TEN, burst: 1 })
    await draw(store)
    const tries = await Promise.all(Array.from({ length: 5 }, () => draw(store)))
    assert.deepEqual(new Set(tries.map(({ outcome }) => outcome)), new Set(['later']))
    assert.deepEqual(await draw(store, { waitUpToMs: 100 }), granted(100))
  }),
  test('P13 a grant uses up the place in the wait list: the next request starts at its end', async (t) => {
    const { store, clock } = t
    await declare(store, { ...TEN, burst: 1 })
    await draw(store)
    const [first, second] = [patientRequest(), patientRequest()]
    await store.limits.acquire([first, second])
    clock.advance(100)
    assert.equal(await acquireOutcome(store, first), 'granted')
    // The second is still in the wait list.
    assert.equal(await acquireOutcome(store, { ...first, waitUpToMs: 1_000 }), 'later')
  }),
  test('a rate needs neither a job nor a running instance', async ({ store }) => {
    await declare(store)
    assert.equal((await draw(store, { token: 77 })).outcome, 'granted')
    assert.deepEqual(await store.limits.release([anAcquire('api')]), [false])
    assert.equal((await apiLimit(store)).held, 0)
  }),
]
