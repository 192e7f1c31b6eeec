/** Limits per key: one budget for each key, with the same settings. */
import assert from 'node:assert/strict'
import { DEFAULT_QUEUE_SETTINGS } from 'jobmill/store'
import { aRetain, anAcquire } from '../../factories.ts'
import { only } from '../bench.ts'
import type { Case } from '../case.ts'
import { EACH, ONE, outcomes } from './limit-key-helpers.ts'
import { apiLimit, declare, draw, patientRequest, settingsVersion, TEN } from './rate-helpers.ts'
import { setQueue, pluck, rejectsWith } from '../looks.ts'

export const limitKeyCases: readonly Case[] = [
  {
    name: 'P13 two keys of a limit are independent, and each respects its rate',
    async run({ store, clock }) {
      await declare(store, EACH)
      assert.deepEqual(await outcomes(store, ['a', 'a', 'a', 'b']), [
        'granted',
        'granted',
        'later',
        'granted',
      ])
      assert.deepEqual(await outcomes(store, ['b', 'b']), ['granted', 'later'])
      clock.advance(100)
      assert.deepEqual(await outcomes(store, ['a', 'a', 'b', 'b']), ['granted', 'later', 'granted', 'later'])
      assert.deepEqual(await draw(store, { key: 'a', waitUpToMs: 100 }), { outcome: 'granted', waitMs: 100 })
      assert.deepEqual(await draw(store, { key: 'c', amount: 3 }), { outcome: 'never', most: 2 })
    },
  },
  {
    name: 'P13 for each key no window of t has more than burst + rate × t, over several handles',
    async run({ store, another, clock }) {
      const stores = [store, await another()]
      await declare(store, { type: 'rate', amount: 7, perMs: 100, burst: 3, perKey: true })
      const keys = ['a', 'b', 'c']
      const instants = new Map<string, number[]>(keys.map((key) => [key, []]))
      for (let round = 0; round < 24; round += 1) {
        const asked = keys.flatMap((key, n) => ({ key, waitUpToMs: n * 10, amount: 1 + ((round + n) % 2) }))
        const replies = stores.map((each) => each.limits.acquire(asked.map((one) => anAcquire('api', one))))
        for (const acquired of await Promise.all(replies))
          for (const [n, reply] of acquired.entries()) {
            const { key = '', amount = 0 } = asked[n] ?? {}
            if (reply.outcome !== 'granted') continue
            const at = clock.now() + reply.waitMs
            instants.get(key)?.push(...Array.from({ length: amount }, () => at))
          }
        clock.advance((round * 7) % 23)
        if (round % 6 === 0) await store.retain(aRetain())
      }
      for (const [key, times] of instants) {
        times.sort((a, b) => a - b)
        assert.ok(times.length > 10, `${key}: only ${times.length} were granted`)
        for (const [n, from] of times.entries())
          for (const [more, to] of times.slice(n).entries())
            assert.ok(
              more + 1 <= 3 + (7 * (to - from)) / 100 + 1e-6,
              `${key}: ${more + 1} in ${to - from} ms`,
            )
      }
    },
  },
  {
    name: 'P13 a denied request goes before new ones of its own key only',
    async run({ store, clock }) {
      await declare(store, ONE)
      await outcomes(store, ['a', 'b'])
      const first = { ...patientRequest(), key: 'a' }
      assert.equal(only(await store.limits.acquire([first])).outcome, 'later')
      clock.advance(50)
      assert.equal((await draw(store, { key: 'a', waitUpToMs: 1_000 })).outcome, 'later')
      // The place of a holder counts only for its own key.
      assert.deepEqual(await draw(store, { key: 'b', waitUpToMs: 1_000 }), { outcome: 'granted', waitMs: 50 })
      assert.deepEqual(only(await store.limits.acquire([{ ...first, waitUpToMs: 1_000 }])), {
        outcome: 'granted',
        waitMs: 50,
      })
    },
  },
  {
    name: 'P13 a drain of one key blocks that key only',
    async run({ store, clock }) {
      await declare(store, EACH)
      const drained = await store.limits.drain('api', 3_000, 'a')
      assert.deepEqual([drained.name, drained.settings, drained.keys], ['api', EACH, 1])
      assert.deepEqual([drained.available, drained.nextInMs, drained.drainedMs], [0, 3_000, 3_000])
      assert.deepEqual(await outcomes(store, ['a', 'b']), ['later', 'granted'])
      clock.advance(3_000)
      assert.deepEqual(await outcomes(store, ['a', 'a', 'b']), ['granted', 'later', 'granted'])
    },
  },
  {
    name: 'P13 a missing or unexpected key is rejected and nothing is spent',
    async run({ store }) {
      await declare(store, EACH)
      await store.limits.declare([{ name: 'plain', settings: TEN }])
      assert.deepEqual(
        await store.limits.acquire([
          anAcquire('api'),
          anAcquire('plain', { key: 'a' }),
          anAcquire('nope', { key: 'a' }),
        ]),
        [
          { outcome: 'wrong-key', perKey: true },
          { outcome: 'wrong-key', perKey: false },
          { outcome: 'unknown' },
        ],
      )
      // The other requests of the call are not affected.
      const mixed = await store.limits.acquire([
        anAcquire('api'),
        anAcquire('api', { key: 'a' }),
        anAcquire('plain'),
        anAcquire('api'),
      ])
      assert.deepEqual(pluck(mixed, 'outcome'), ['wrong-key', 'granted', 'granted', 'wrong-key'])
      await rejectsWith('OPTION_CONFLICT', () => store.limits.drain('api', 5))
      await rejectsWith('OPTION_CONFLICT', () => store.limits.drain('plain', 5, 'a'))
      await rejectsWith('LIMIT_UNKNOWN', () => store.limits.drain('nope', 5, 'a'))
      const records = await store.limits.list()
      assert.deepEqual(
        records.map(({ name, available, keys }) => ({ name, available, keys })),
        [
          { name: 'api', available: 2, keys: 1 },
          { name: 'plain', available: 1, keys: null },
        ],
      )
    },
  },
  {
    name: 'P13 a key is any text on one line of at most 200 characters',
    async run({ store }) {
      await declare(store, ONE)
      const keys = ['a', 'A', ' a', 'a ', '-', 'ключ', '🦆', `"'\\`, 'x'.repeat(200)]
      assert.deepEqual(new Set(await outcomes(store, keys)), new Set(['granted']))
      assert.deepEqual(new Set(await outcomes(store, keys)), new Set(['later']))
      assert.equal((await apiLimit(store)).keys, keys.length)
    },
  },
  {
    name: 'P13 keys are not limits: they are not listed, and the name of a limit with a key names none',
    async run({ store }) {
      await declare(store, EACH)
      const version = await settingsVersion(store)
      await outcomes(store, ['a', 'a', 'b'])
      assert.equal(await settingsVersion(store), version)
      const record = await apiLimit(store)
      assert.deepEqual(record, {
        name: 'api',
        settings: EACH,
        available: 2,
        held: 0,
        nextInMs: 0,
        drainedMs: 0,
        keys: 2,
      })
      assert.equal(await store.limits.delete('api a'), false)
      await rejectsWith('LIMIT_UNKNOWN', () => store.overrides.reset('limit', 'api a', null))
      assert.deepEqual(await apiLimit(store), record)
    },
  },
  {
    name: 'P13 a limit per key cannot be used by a queue',
    async run({ store }) {
      await declare(store, EACH)
      const settings = DEFAULT_QUEUE_SETTINGS
      await store.queues.declare([{ name: 'default', settings }])
      await rejectsWith('OPTION_CONFLICT', () => setQueue(store, 'default', { limit: 'api' }))
      await rejectsWith('OPTION_CONFLICT', () =>
        store.queues.declare([{ name: 'other', settings: { ...settings, limit: 'api' } }]),
      )
      assert.deepEqual(pluck(await store.queues.list(), 'name', 'limit'), [['default', null]])
    },
  },
]
