/** The keys of a limit during changes, deletions, cleanup, and concurrent first uses. */
import assert from 'node:assert/strict'
import type { LimitSettings, RateSettings } from 'jobmill/store'
import { aRetain, anAcquire } from '../../factories.ts'
import { HOUR } from '../bench.ts'
import { type Case, test } from '../case.ts'
import {
  gives,
  granted,
  acquireOutcome,
  apiLimit,
  countGranted,
  declare,
  draw,
  EACH,
  ONE,
  outcomes,
  patientRequest,
  TEN,
} from './limit-helpers.ts'
import { pluck, rejectsWith } from '../looks.ts'

const MINUTE = HOUR / 60

const oneIn = (perMs: number): RateSettings => ({ type: 'rate', amount: 1, perMs, burst: 1, perKey: true })

export const limitKeyEndCases: readonly Case[] = [
  test('P13 a change applies to every key at once, and tokens granted to each are still owed', async (t) => {
    const { store, clock } = t
    await declare(store, { type: 'rate', amount: 1, perMs: 1_000, burst: 4, perKey: true })
    await store.limits.acquire([
      anAcquire('api', { key: 'a', amount: 4 }),
      anAcquire('api', { key: 'b', amount: 1 }),
    ])
    await store.limits.drain('api', 5_000, 'c')
    await store.limits.acquire([patientRequest({ key: 'a' })])
    const faster: LimitSettings = { type: 'rate', amount: 10, perMs: 1_000, burst: 4, perKey: true }
    const changed = await store.limits.change('api', faster)
    assert.deepEqual([changed.settings, changed.available, changed.keys], [faster, 4, 3])
    assert.deepEqual(await store.limits.list(), [changed])
    // The wait list is empty, and the old debt is paid at the new rate.
    assert.deepEqual(await draw(store, { key: 'a', waitUpToMs: 1_000 }), granted(100))
    await gives(store, 'b+ b+ b+ b-')
    clock.advance(4_999)
    await gives(store, 'a+ c-')
    clock.advance(1)
    await gives(store, 'c+ c-')
  }),
  test('P13 perKey cannot be overridden', async ({ store }) => {
    await declare(store, EACH)
    await store.limits.declare([{ name: 'plain', settings: TEN }])
    await rejectsWith('OPTION_CONFLICT', () => store.limits.change('api', { type: 'concurrency', most: 1 }))
    await rejectsWith('OPTION_CONFLICT', () => store.limits.change('plain', EACH))
    assert.deepEqual(pluck(await store.limits.list(), 'settings'), [EACH, TEN])
  }),
  test('P13 the keys of a deleted limit are deleted with it, and one that is declared again starts fresh', async (t) => {
    const { store } = t
    await declare(store, ONE)
    await store.limits.declare([{ name: 'api2', settings: ONE }])
    await store.limits.acquire([anAcquire('api', { key: 'a' }), anAcquire('api2', { key: 'a' })])
    const late = patientRequest({ key: 'a' })
    await store.limits.acquire([late])
    assert.equal(await store.limits.delete('api'), true)
    assert.deepEqual(await draw(store, { key: 'a' }), { outcome: 'unknown' })
    await declare(store, ONE)
    assert.equal((await store.limits.list())[0]?.keys, 0)
    await gives(store, 'a+')
    await store.limits.acquire([patientRequest({ key: 'a' })])
    // The late request has lost its place.
    assert.equal(await acquireOutcome(store, { ...late, waitUpToMs: 1_000 }), 'later')
    assert.equal(await acquireOutcome(store, anAcquire('api2', { key: 'a' })), 'later')
  }),
  test('P13 retain deletes a key once it is full and its wait list is empty, which changes no answer', async (t) => {
    const { store, clock } = t
    await declare(store, EACH)
    await store.limits.acquire([anAcquire('api', { key: 'a', amount: 2 }), anAcquire('api', { key: 'b' })])
    await store.limits.drain('api', 1_000, 'c')
    const waiting = patientRequest({ key: 'd', amount: 2 })
    await store.limits.acquire([anAcquire('api', { key: 'd', amount: 2 }), waiting])
    const left = async (): Promise<number | null> => {
      await store.retain(aRetain())
      return (await apiLimit(store)).keys
    }
    assert.equal(await left(), 4)
    clock.advance(100)
    assert.equal(await left(), 3)
    // A short wait is not enough: the granted tokens are still owed.
    clock.advance(50)
    await gives(store, 'a+ a-')
    clock.advance(MINUTE / 2)
    // It was drained and is full again. The waiting request keeps its place.
    assert.equal(await left(), 1)
    await gives(store, 'a+ a+ a-')
    await gives(store, 'd+')
    clock.advance(11 * MINUTE)
    assert.equal(await left(), 0)
    await gives(store, 'a+ d+ d+')
    assert.equal((await draw(store, { key: 'd', waitUpToMs: 1_000 })).outcome, 'granted')
  }),
  test('P13 retain skips keys that are in use, and says when there may be more', async ({ store, clock }) => {
    await declare(store, ONE)
    const keys = Array.from({ length: 30 }, (_, n) => `k${n}`)
    await outcomes(store, keys)
    await store.limits.drain('api', HOUR, 'k7')
    clock.advance(1_000)
    for (let pass = 0; pass < 10; pass += 1) {
      const { more } = await store.retain(aRetain({ limit: 10 }))
      if (!more) break
    }
    assert.equal((await apiLimit(store)).keys, 1)
    await gives(store, 'k6+ k7-')
  }),
  test('P13 acquires for many new keys in one call, and for the same ones through several handles at once', async (t) => {
    const { store, another } = t
    const stores = [store, await another(), await another()]
    await declare(store, ONE)
    await store.limits.declare([{ name: 'other', settings: ONE }])
    const keys = Array.from({ length: 40 }, (_, n) => `k${n}`)
    for (const round of [0, 1]) {
      const replies = await Promise.all(
        stores.map((each, n) => {
          // Orders and limits differ between handles, so a store that locks rows one by one would deadlock.
          const mine = n === 1 ? keys.toReversed() : keys
          return each.limits.acquire(
            mine.flatMap((key) => [
              anAcquire(n === 2 ? 'other' : 'api', { key }),
              anAcquire(n === 2 ? 'api' : 'other', { key }),
            ]),
          )
        }),
      )
      assert.equal(countGranted(replies.flat()), round === 0 ? 80 : 0)
    }
    assert.deepEqual(pluck(await store.limits.list(), 'keys'), [40, 40])
  }),
  test('P13 keys that are first used while their limit is changed, cleaned up or deleted respect it', async (t) => {
    const { store, another, clock } = t
    const other = await another()
    await declare(store, oneIn(HOUR))
    for (let round = 0; round < 6; round += 1) {
      const keys = Array.from({ length: 8 }, (_, n) => `r${round}-${n}`)
      const [replies] = await Promise.all([
        Promise.all(keys.map((key) => outcomes(store, [key]))),
        other.limits.change('api', oneIn(HOUR + (round + 1) * 1_000)),
        other.retain(aRetain()),
      ])
      assert.deepEqual(new Set(replies.flat()), new Set(['granted']))
      // Whichever came first, the token that each has taken is paid at the new rate.
      clock.advance(10)
      const next = await store.limits.acquire(
        keys.map((key) => anAcquire('api', { key, waitUpToMs: 2 * HOUR })),
      )
      const waitMs = HOUR + (round + 1) * 1_000 - 10
      assert.deepEqual(
        next,
        keys.map(() => granted(waitMs)),
      )
    }
    await Promise.all([
      other.limits.delete('api'),
      ...Array.from({ length: 8 }, (_, n) => outcomes(store, [`last-${n}`, 'r0-0'])),
    ])
    assert.deepEqual(await outcomes(store, ['last-0']), ['unknown'])
    assert.deepEqual(await store.limits.list(), [])
  }),
]
