/** Limits per key: one budget for each key, with the same settings. */
import assert from 'node:assert/strict'
import { DEFAULT_QUEUE_SETTINGS, type RateSettings } from 'jobmill/store'
import { aRetain, anAcquire } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import {
  gives,
  respectsRate,
  granted,
  acquireOutcome,
  apiLimit,
  declare,
  draw,
  EACH,
  ONE,
  outcomes,
  patientRequest,
  settingsVersion,
  TEN,
} from './limit-helpers.ts'
import { setQueue, pluck, rejectsWith, repeat } from '../looks.ts'

export const limitKeyCases: readonly Case[] = [
  test('P13 two keys of a limit are independent, and each respects its rate', async ({ store, clock }) => {
    await declare(store, EACH)
    await gives(store, 'a+ a+ a- b+')
    await gives(store, 'b+ b-')
    clock.advance(100)
    await gives(store, 'a+ a- b+ b-')
    assert.deepEqual(await draw(store, { key: 'a', waitUpToMs: 100 }), granted(100))
    assert.deepEqual(await draw(store, { key: 'c', amount: 3 }), { outcome: 'never', most: 2 })
  }),
  test('P13 for each key no window of t has more than burst + rate × t, over several handles', async (t) => {
    const { store, another, clock } = t
    const stores = [store, await another()]
    const rate: RateSettings = { type: 'rate', amount: 7, perMs: 100, burst: 3, perKey: true }
    await declare(store, rate)
    const keys = ['a', 'b', 'c']
    const instants = new Map<string, number[]>(keys.map((key) => [key, []]))
    for (let round = 0; round < 24; round += 1) {
      const asked = keys.flatMap((key, n) => ({ key, waitUpToMs: n * 10, amount: 1 + ((round + n) % 2) }))
      const replies = stores.map((each) => each.limits.acquire(asked.map((one) => anAcquire('api', one))))
      for (const acquired of await Promise.all(replies))
        for (const [n, reply] of acquired.entries()) {
          const { key = '', amount = 0 } = asked[n] ?? {}
          if (reply.outcome === 'granted')
            instants.get(key)?.push(...repeat(clock.now() + reply.waitMs, amount))
        }
      clock.advance((round * 7) % 23)
      if (round % 6 === 0) await store.retain(aRetain())
    }
    for (const [key, times] of instants) {
      assert.ok(times.length > 10, `${key}: only ${times.length} were granted`)
      respectsRate(times, rate)
    }
  }),
  test('P13 a denied request goes before new ones of its own key only', async ({ store, clock }) => {
    await declare(store, ONE)
    await outcomes(store, ['a', 'b'])
    const first = patientRequest({ key: 'a' })
    assert.equal(await acquireOutcome(store, first), 'later')
    clock.advance(50)
    assert.equal((await draw(store, { key: 'a', waitUpToMs: 1_000 })).outcome, 'later')
    // The place of a holder counts only for its own key.
    assert.deepEqual(await draw(store, { key: 'b', waitUpToMs: 1_000 }), granted(50))
    assert.deepEqual(await draw(store, { ...first, waitUpToMs: 1_000 }), granted(50))
  }),
  test('P13 a drain of one key blocks that key only', async ({ store, clock }) => {
    await declare(store, EACH)
    const drained = await store.limits.drain('api', 3_000, 'a')
    assert.deepEqual([drained.name, drained.settings, drained.keys], ['api', EACH, 1])
    assert.deepEqual([drained.available, drained.nextInMs, drained.drainedMs], [0, 3_000, 3_000])
    await gives(store, 'a- b+')
    clock.advance(3_000)
    await gives(store, 'a+ a- b+')
  }),
  test('P13 a missing or unexpected key is rejected and nothing is spent', async ({ store }) => {
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
  }),
  test('P13 a key is any text on one line of at most 200 characters', async ({ store }) => {
    await declare(store, ONE)
    const keys = ['a', 'A', ' a', 'a ', '-', 'ключ', '🦆', `"'\\`, 'x'.repeat(200)]
    assert.deepEqual(new Set(await outcomes(store, keys)), new Set(['granted']))
    assert.deepEqual(new Set(await outcomes(store, keys)), new Set(['later']))
    assert.equal((await apiLimit(store)).keys, keys.length)
  }),
  test('P13 keys are not limits: they are not listed, and the name of a limit with a key names none', async ({
    store,
  }) => {
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
  }),
  test('P13 a limit per key cannot be used by a queue', async ({ store }) => {
    await declare(store, EACH)
    const settings = DEFAULT_QUEUE_SETTINGS
    await store.queues.declare([{ name: 'default', settings }])
    await rejectsWith('OPTION_CONFLICT', () => setQueue(store, 'default', { limit: 'api' }))
    await rejectsWith('OPTION_CONFLICT', () =>
      store.queues.declare([{ name: 'other', settings: { ...settings, limit: 'api' } }]),
    )
    assert.deepEqual(pluck(await store.queues.list(), 'name', 'limit'), [['default', null]])
  }),
]
