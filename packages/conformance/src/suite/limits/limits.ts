/** Rate limits: never exceeded, whichever handle a request uses. */
import assert from 'node:assert/strict'
import type { Acquired, LimitSettings } from 'jobmill/store'
import { anAcquire } from '../../factories.ts'
import { HOUR, only } from '../bench.ts'
import type { Case } from '../case.ts'
import { hasFields, pluck } from '../looks.ts'
import {
  TEN,
  declare,
  draw,
  patientRequest,
  apiLimit,
  countGranted,
  settingsVersion,
} from './rate-helpers.ts'

export const limitCases: readonly Case[] = [
  {
    name: 'a declared limit exists with its settings, and is full',
    async run({ store, another }) {
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
    },
  },
  {
    name: 'declaring a limit again changes nothing; concurrent declarations from several handles make one',
    async run({ store, another }) {
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
    },
  },
  {
    name: 'P13 gathered tokens are granted at once, and the next only when it is paid for',
    async run({ store, clock }) {
      await declare(store)
      assert.deepEqual(
        [await draw(store), await draw(store)],
        [
          { outcome: 'granted', waitMs: 0 },
          { outcome: 'granted', waitMs: 0 },
        ],
      )
      hasFields(await apiLimit(store), { available: 0, nextInMs: 100 })
      const late = anAcquire('api')
      const ask = async (): Promise<Acquired['outcome']> => only(await store.limits.acquire([late])).outcome
      assert.equal(await ask(), 'later')
      clock.advance(99)
      assert.equal(await ask(), 'later')
      clock.advance(1)
      assert.equal(await ask(), 'granted')
      clock.advance(HOUR)
      assert.equal((await apiLimit(store)).available, 2)
    },
  },
  {
    name: 'P13 a request that can wait learns how long, and has its token then',
    async run({ store }) {
      await declare(store)
      const replies = []
      for (let n = 0; n < 6; n += 1) replies.push(await draw(store, { waitUpToMs: 300 }))
      assert.deepEqual(
        replies.slice(0, 5).map((reply) => 'waitMs' in reply && reply.waitMs),
        [0, 0, 100, 200, 300],
      )
      assert.equal(replies[5]?.outcome, 'later')
    },
  },
  {
    name: 'P13 the items of one call are answered in order, each limit separately',
    async run({ store }) {
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
    },
  },
  {
    name: 'P13 several tokens count as many, and more than the maximum are rejected and cost nothing',
    async run({ store, clock }) {
      await declare(store, { ...TEN, burst: 5 })
      assert.deepEqual(await draw(store, { amount: 6 }), { outcome: 'never', most: 5 })
      assert.equal((await apiLimit(store)).available, 5)
      assert.equal((await draw(store, { amount: 4 })).outcome, 'granted')
      assert.equal((await apiLimit(store)).available, 1)
      assert.deepEqual(await draw(store, { amount: 5, waitUpToMs: 400 }), { outcome: 'granted', waitMs: 400 })
      clock.advance(400)
      assert.equal((await apiLimit(store)).available, 0)
    },
  },
  {
    name: 'P13 no window grants more than burst and rate, whatever is requested through several handles',
    async run({ store, another, clock }) {
      const stores = [store, await another()]
      await declare(store, { type: 'rate', amount: 7, perMs: 100, burst: 3 })
      const start = clock.now()
      const instants: number[] = []
      for (let round = 0; round < 40; round += 1) {
        const asks = stores.map((each) =>
          each.limits.acquire([
            anAcquire('api', { waitUpToMs: 20 }),
            anAcquire('api', { amount: 1 + (round % 3) }),
          ]),
        )
        for (const replies of await Promise.all(asks))
          for (const [n, reply] of replies.entries())
            if (reply.outcome === 'granted')
              for (let token = 0; token < (n === 0 ? 1 : 1 + (round % 3)); token += 1)
                instants.push(clock.now() + reply.waitMs)
        clock.advance((round * 7) % 23)
      }
      instants.sort((a, b) => a - b)
      for (const [n, from] of instants.entries())
        for (const [more, to] of instants.slice(n).entries())
          assert.ok(more + 1 <= 3 + (7 * (to - from)) / 100 + 1e-6, `${more + 1} in ${to - from} ms`)
      const most = 3 + (7 * (clock.now() + 20 - start)) / 100
      assert.ok(instants.length > most / 2, `only ${instants.length} of ${most} were granted`)
    },
  },
  {
    name: 'P13 concurrent acquires through several handles never exceed the budget',
    async run({ store, another, clock }) {
      const stores = [store, await another(), await another()]
      await declare(store, { ...TEN, burst: 5 })
      for (const [round, burst] of [5, 2, 5].entries()) {
        const takes = Array.from({ length: 12 }, (_, n) => draw(stores[n % 3] ?? store))
        assert.equal(countGranted(await Promise.all(takes)), burst, `round ${round}`)
        clock.advance(round === 0 ? 200 : HOUR)
      }
    },
  },
  {
    name: 'P13 a denied request goes before new ones when it returns',
    async run({ store, clock }) {
      await declare(store, { ...TEN, burst: 1 })
      await draw(store)
      const [first, second] = [patientRequest(), patientRequest()]
      assert.equal(only(await store.limits.acquire([first])).outcome, 'later')
      assert.equal(only(await store.limits.acquire([second])).outcome, 'later')
      clock.advance(50)
      assert.equal((await draw(store, { waitUpToMs: 1_000 })).outcome, 'later')
      assert.deepEqual(only(await store.limits.acquire([{ ...second, waitUpToMs: 1_000 }])), {
        outcome: 'granted',
        waitMs: 50,
      })
      assert.deepEqual(only(await store.limits.acquire([{ ...first, waitUpToMs: 1_000 }])), {
        outcome: 'granted',
        waitMs: 150,
      })
    },
  },
  {
    name: 'P13 a request that only tries takes no place, and blocks no waiter',
    async run({ store }) {
      await declare(store, { ...TEN, burst: 1 })
      await draw(store)
      const tries = await Promise.all(Array.from({ length: 5 }, () => draw(store)))
      assert.deepEqual(new Set(tries.map(({ outcome }) => outcome)), new Set(['later']))
      assert.deepEqual(await draw(store, { waitUpToMs: 100 }), { outcome: 'granted', waitMs: 100 })
    },
  },
  {
    name: 'P13 a grant uses up the place in the wait list: the next request starts at its end',
    async run({ store, clock }) {
      await declare(store, { ...TEN, burst: 1 })
      await draw(store)
      const [first, second] = [patientRequest(), patientRequest()]
      await store.limits.acquire([first, second])
      clock.advance(100)
      assert.equal(only(await store.limits.acquire([first])).outcome, 'granted')
      // The second is still in the wait list.
      assert.equal(only(await store.limits.acquire([{ ...first, waitUpToMs: 1_000 }])).outcome, 'later')
    },
  },
  {
    name: 'a rate needs neither a job nor a running instance',
    async run({ store }) {
      await declare(store)
      assert.equal((await draw(store, { token: 77 })).outcome, 'granted')
      assert.deepEqual(await store.limits.release([anAcquire('api')]), [false])
      assert.equal((await apiLimit(store)).held, 0)
    },
  },
]
