/** Limits per key: one budget for each key, with the same settings, until it is cleaned up or deleted. */
import assert from 'node:assert/strict'
import { anAcquire, aRetain, HOUR, only } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck, rejectsWith, repeat } from '../looks.ts'
import {
  acquireOutcome,
  apiLimit,
  countGranted,
  declare,
  draw,
  EACH,
  gives,
  granted,
  grants,
  ONE,
  outcomes,
  patientRequest,
  permits,
  rate,
  respectsRate,
  settingsVersion,
  TEN,
} from './limit-helpers.ts'

const MINUTE = HOUR / 60

const oneIn = (perMs: number) => rate({ amount: 1, perMs, burst: 1, perKey: true })

export const limitKeyCases: readonly Case[] = [
  test('P13 two keys of a limit are independent, and each respects its rate', async (t) => {
    await declare(t.store, EACH)
    await gives(t.store, 'a+ a+ a- b+')
    await gives(t.store, 'b+ b-')
    t.clock.advance(100)
    await gives(t.store, 'a+ a- b+ b-')
    assert.deepEqual(await draw(t.store, { key: 'a', waitUpToMs: 100 }), granted(100))
    assert.deepEqual(await draw(t.store, { key: 'c', amount: 3 }), { outcome: 'never', most: 2 })
  }),
  test('P13 for each key no window of t has more than burst + rate × t, over several handles', async (t) => {
    const stores = await t.handles(2)
    const settings = rate({ amount: 7, perMs: 100, burst: 3, perKey: true })
    await declare(t.store, settings)
    const tokens = []
    for (let round = 0; round < 24; round += 1) {
      const asked = ['a', 'b', 'c'].map((key, n) => ({
        key,
        waitUpToMs: n * 10,
        amount: 1 + ((round + n) % 2),
      }))
      tokens.push(...(await grants(stores, t.clock.now(), asked)))
      t.clock.advance((round * 7) % 23)
      if (round % 6 === 0) await t.retain()
    }
    const byKey = Map.groupBy(tokens, ({ key }) => key)
    assert.equal(byKey.size, 3)
    for (const [key, own] of byKey) {
      assert.ok(own.length > 10, `${key}: only ${own.length} were granted`)
      respectsRate(pluck(own, 'at'), settings)
    }
  }),
  test('P13 a denied request goes before new ones of its own key only', async (t) => {
    await declare(t.store, ONE)
    await outcomes(t.store, ['a', 'b'])
    const first = patientRequest({ key: 'a' })
    assert.equal(await acquireOutcome(t.store, first), 'later')
    t.clock.advance(50)
    assert.equal((await draw(t.store, { key: 'a', waitUpToMs: 1_000 })).outcome, 'later')
    // The place of a holder counts only for its own key.
    assert.deepEqual(await draw(t.store, { key: 'b', waitUpToMs: 1_000 }), granted(50))
    assert.deepEqual(await draw(t.store, { ...first, waitUpToMs: 1_000 }), granted(50))
  }),
  test('P13 a drain of one key blocks that key only', async (t) => {
    await declare(t.store, EACH)
    const drained = await t.store.limits.drain('api', 3_000, 'a')
    hasFields(drained, { name: 'api', settings: EACH, keys: 1 })
    hasFields(drained, { available: 0, nextInMs: 3_000, drainedMs: 3_000 })
    await gives(t.store, 'a- b+')
    t.clock.advance(3_000)
    await gives(t.store, 'a+ a- b+')
  }),
  test('P13 a missing or unexpected key is rejected and nothing is spent', async (t) => {
    await declare(t.store, EACH)
    await declare(t.store, TEN, 'plain')
    const [api, plain] = [anAcquire('api'), anAcquire('plain')]
    const wrong = [api, { ...plain, key: 'a' }, anAcquire('nope', { key: 'a' })]
    assert.deepEqual(await t.store.limits.acquire(wrong), [
      { outcome: 'wrong-key', perKey: true },
      { outcome: 'wrong-key', perKey: false },
      { outcome: 'unknown' },
    ])
    // The other requests of the call are not affected.
    const mixed = await t.store.limits.acquire([api, { ...api, key: 'a' }, plain, api])
    assert.deepEqual(pluck(mixed, 'outcome'), ['wrong-key', 'granted', 'granted', 'wrong-key'])
    await rejectsWith('OPTION_CONFLICT', () => t.store.limits.drain('api', 5))
    await rejectsWith('OPTION_CONFLICT', () => t.store.limits.drain('plain', 5, 'a'))
    await rejectsWith('LIMIT_UNKNOWN', () => t.store.limits.drain('nope', 5, 'a'))
    assert.deepEqual(pluck(await t.store.limits.list(), 'name', 'available', 'keys'), [
      ['api', 2, 1],
      ['plain', 1, null],
    ])
  }),
  test('P13 a key is any text on one line of at most 200 characters', async (t) => {
    await declare(t.store, ONE)
    const keys = ['a', 'A', ' a', 'a ', '-', 'ключ', '🦆', `"'\\`, 'x'.repeat(200)]
    assert.deepEqual(new Set(await outcomes(t.store, keys)), new Set(['granted']))
    assert.deepEqual(new Set(await outcomes(t.store, keys)), new Set(['later']))
    assert.equal((await apiLimit(t.store)).keys, keys.length)
  }),
  test(
    'P13 keys are not limits: they are not listed, and the name of a limit with a key names none',
    async (t) => {
      await declare(t.store, EACH)
      const version = await settingsVersion(t.store)
      await outcomes(t.store, ['a', 'a', 'b'])
      assert.equal(await settingsVersion(t.store), version)
      const record = only(await t.store.limits.list())
      const full = { available: 2, held: 0, nextInMs: 0, drainedMs: 0 }
      assert.deepEqual(record, { name: 'api', settings: EACH, ...full, keys: 2 })
      assert.equal(await t.store.limits.delete('api a'), false)
      await rejectsWith('LIMIT_UNKNOWN', () => t.store.overrides.reset('limit', 'api a', null))
      assert.deepEqual(await t.store.limits.list(), [record])
    },
    'overrides',
  ),
  test('P13 a limit per key cannot be used by a queue', async (t) => {
    await declare(t.store, EACH)
    await t.store.queues.declare([{ name: 'default', settings: {} }])
    await rejectsWith('OPTION_CONFLICT', () => t.setQueue('default', { limit: 'api' }))
    const other = { name: 'other', settings: { limit: 'api' } }
    await rejectsWith('OPTION_CONFLICT', () => t.store.queues.declare([other]))
    assert.deepEqual(pluck(await t.store.queues.list(), 'name', 'limit'), [['default', null]])
  }),
  test('P13 a change applies to every key at once, and tokens granted to each are still owed', async (t) => {
    const faster = { ...EACH, burst: 4 }
    await declare(t.store, { ...faster, amount: 1 })
    await draw(t.store, { key: 'a', amount: 4 })
    await draw(t.store, { key: 'b' })
    await t.store.limits.drain('api', 5_000, 'c')
    await t.store.limits.acquire([patientRequest({ key: 'a' })])
    const changed = await t.store.limits.change('api', faster)
    hasFields(changed, { settings: faster, available: 4, keys: 3 })
    assert.deepEqual(await t.store.limits.list(), [changed])
    // The wait list is empty, and the old debt is paid at the new rate.
    assert.deepEqual(await draw(t.store, { key: 'a', waitUpToMs: 1_000 }), granted(100))
    await gives(t.store, 'b+ b+ b+ b-')
    t.clock.advance(4_999)
    await gives(t.store, 'a+ c-')
    t.clock.advance(1)
    await gives(t.store, 'c+ c-')
  }),
  test('P13 perKey cannot be overridden', async (t) => {
    await declare(t.store, EACH)
    await declare(t.store, TEN, 'plain')
    await rejectsWith('OPTION_CONFLICT', () => t.store.limits.change('api', permits(1)))
    await rejectsWith('OPTION_CONFLICT', () => t.store.limits.change('plain', EACH))
    assert.deepEqual(pluck(await t.store.limits.list(), 'settings'), [EACH, TEN])
  }),
  test('P13 the keys of a deleted limit are deleted with it, and one that is declared again starts fresh', async (t) => {
    await declare(t.store, ONE)
    await declare(t.store, ONE, 'api2')
    await t.store.limits.acquire([anAcquire('api', { key: 'a' }), anAcquire('api2', { key: 'a' })])
    const late = patientRequest({ key: 'a' })
    await t.store.limits.acquire([late])
    assert.equal(await t.store.limits.delete('api'), true)
    assert.deepEqual(await draw(t.store, { key: 'a' }), { outcome: 'unknown' })
    await declare(t.store, ONE)
    assert.equal((await apiLimit(t.store)).keys, 0)
    await gives(t.store, 'a+')
    await t.store.limits.acquire([patientRequest({ key: 'a' })])
    // The late request has lost its place.
    assert.equal(await acquireOutcome(t.store, { ...late, waitUpToMs: 1_000 }), 'later')
    assert.equal(await acquireOutcome(t.store, anAcquire('api2', { key: 'a' })), 'later')
  }),
  test('P13 retain deletes a key once it is full and its wait list is empty, which changes no answer', async (t) => {
    await declare(t.store, EACH)
    await t.store.limits.acquire([anAcquire('api', { key: 'a', amount: 2 }), anAcquire('api', { key: 'b' })])
    await t.store.limits.drain('api', 1_000, 'c')
    const waiting = patientRequest({ key: 'd', amount: 2 })
    await t.store.limits.acquire([anAcquire('api', { key: 'd', amount: 2 }), waiting])
    const left = async (): Promise<number | null> => {
      await t.retain()
      return (await apiLimit(t.store)).keys
    }
    assert.equal(await left(), 4)
    t.clock.advance(100)
    assert.equal(await left(), 3)
    // A short wait is not enough: the granted tokens are still owed.
    t.clock.advance(50)
    await gives(t.store, 'a+ a-')
    t.clock.advance(MINUTE / 2)
    // It was drained and is full again. The waiting request keeps its place.
    assert.equal(await left(), 1)
    await gives(t.store, 'a+ a+ a-')
    await gives(t.store, 'd+')
    t.clock.advance(11 * MINUTE)
    assert.equal(await left(), 0)
    await gives(t.store, 'a+ d+ d+')
    assert.equal((await draw(t.store, { key: 'd', waitUpToMs: 1_000 })).outcome, 'granted')
  }),
  test('P13 retain skips keys that are in use, and says when there may be more', async (t) => {
    await declare(t.store, ONE)
    const keys = Array.from({ length: 30 }, (_, n) => `k${n}`)
    await outcomes(t.store, keys)
    await t.store.limits.drain('api', HOUR, 'k7')
    t.clock.advance(1_000)
    for (let pass = 0; pass < 10 && (await t.retain({ limit: 10 })).more; pass += 1);
    assert.equal((await apiLimit(t.store)).keys, 1)
    await gives(t.store, 'k6+ k7-')
  }),
  test('P13 acquires for many new keys in one call, and for the same ones through several handles at once', async (t) => {
    const stores = await t.handles(3)
    await declare(t.store, ONE)
    await declare(t.store, ONE, 'other')
    const keys = Array.from({ length: 40 }, (_, n) => `k${n}`)
    for (const round of [0, 1]) {
      const replies = await Promise.all(
        stores.map((each, n) => {
          // Orders and limits differ between handles, so a store that locks rows one by one would deadlock.
          const mine = n === 1 ? keys.toReversed() : keys
          const names = n === 2 ? ['other', 'api'] : ['api', 'other']
          return each.limits.acquire(mine.flatMap((key) => names.map((name) => anAcquire(name, { key }))))
        }),
      )
      assert.equal(countGranted(replies.flat()), round === 0 ? 80 : 0)
    }
    assert.deepEqual(pluck(await t.store.limits.list(), 'keys'), [40, 40])
  }),
  test('P13 keys that are first used while their limit is changed, cleaned up or deleted respect it', async (t) => {
    const other = await t.another()
    await declare(t.store, oneIn(HOUR))
    for (let round = 0; round < 6; round += 1) {
      const keys = Array.from({ length: 8 }, (_, n) => `r${round}-${n}`)
      const [replies] = await Promise.all([
        Promise.all(keys.map((key) => outcomes(t.store, [key]))),
        other.limits.change('api', oneIn(HOUR + (round + 1) * 1_000)),
        other.retain(aRetain()),
      ])
      assert.deepEqual(new Set(replies.flat()), new Set(['granted']))
      // Whichever came first, the token that each has taken is paid at the new rate.
      t.clock.advance(10)
      const asked = keys.map((key) => anAcquire('api', { key, waitUpToMs: 2 * HOUR }))
      const waitMs = HOUR + (round + 1) * 1_000 - 10
      assert.deepEqual(await t.store.limits.acquire(asked), repeat(granted(waitMs), keys.length))
    }
    await Promise.all([
      other.limits.delete('api'),
      ...Array.from({ length: 8 }, (_, n) => outcomes(t.store, [`last-${n}`, 'r0-0'])),
    ])
    assert.deepEqual(await outcomes(t.store, ['last-0']), ['unknown'])
    assert.deepEqual(await t.store.limits.list(), [])
  }),
]
