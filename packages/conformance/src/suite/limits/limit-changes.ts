/** Operations on limits: drains, changes and deletions, and invalid ones. */
import assert from 'node:assert/strict'
import type { LimitSettings } from 'jobmill/store'
import { HOUR } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, rejectsWith } from '../looks.ts'
import {
  acquireOutcome,
  apiLimit,
  countGranted,
  declare,
  draw,
  patientRequest,
  settingsVersion,
  TEN,
} from './limit-helpers.ts'

export const limitChangeCases: readonly Case[] = [
  test('creating, changing and deleting a limit changes the version of the settings, P15 and nothing else does', async (t) => {
    const { store } = t
    let version = await settingsVersion(store)
    const changes = async (act: () => Promise<unknown>): Promise<void> => {
      await act()
      const next = await settingsVersion(store)
      assert.notEqual(next, version)
      version = next
    }
    await changes(() => declare(store))
    await changes(() => store.limits.change('api', { ...TEN, amount: 11 }))
    await draw(store)
    await store.limits.drain('api', 5)
    assert.equal(await settingsVersion(store), version)
    await changes(() => store.limits.delete('api'))
  }),
  test('P13 a drain grants nothing for its time, then one, and the others at the rate', async (t) => {
    const { store, clock } = t
    await declare(store, { ...TEN, burst: 5 })
    const drained = await store.limits.drain('api', 3_000)
    assert.deepEqual([drained.available, drained.nextInMs, drained.drainedMs], [0, 3_000, 3_000])
    assert.deepEqual(await store.limits.list(), [drained])
    clock.advance(2_999)
    assert.equal((await draw(store)).outcome, 'later')
    assert.equal((await apiLimit(store)).drainedMs, 1)
    clock.advance(1)
    const takes = await Promise.all(Array.from({ length: 5 }, () => draw(store)))
    assert.equal(countGranted(takes), 1)
    clock.advance(100)
    assert.equal((await apiLimit(store)).available, 1)
    await rejectsWith('LIMIT_UNKNOWN', () => store.limits.drain('nope', 5))
  }),
  test('P13 a drain never shortens a longer one, and one without a time removes the gathered tokens', async (t) => {
    const { store, clock } = t
    await declare(store, { ...TEN, burst: 5 })
    assert.equal((await store.limits.drain('api', 0)).available, 0)
    clock.advance(300)
    assert.equal((await apiLimit(store)).available, 3)
    await store.limits.drain('api', 5_000)
    assert.equal((await store.limits.drain('api', 10)).drainedMs, 5_000)
  }),
  test('P13 a changed rate applies from now on; tokens granted before are still owed', async (t) => {
    const { store, clock } = t
    await declare(store, { type: 'rate', amount: 1, perMs: 1_000, burst: 4 })
    await draw(store, { amount: 4 })
    const faster: LimitSettings = { type: 'rate', amount: 10, perMs: 1_000, burst: 4 }
    const changed = await store.limits.change('api', faster)
    assert.deepEqual([changed.settings, changed.available, changed.nextInMs], [faster, 0, 100])
    assert.deepEqual(await store.limits.list(), [changed])
    clock.advance(200)
    assert.equal((await apiLimit(store)).available, 2)
    await rejectsWith('LIMIT_UNKNOWN', () => store.limits.change('nope', faster))
  }),
  test('P13 a change clears the wait list, which was made for another rate', async ({ store }) => {
    await declare(store, { ...TEN, burst: 1 })
    await draw(store)
    const [first, second] = [patientRequest(), patientRequest()]
    await store.limits.acquire([first, second])
    await store.limits.change('api', { ...TEN, burst: 1 })
    // The wait list is empty, so a new request is granted.
    assert.equal((await draw(store, { waitUpToMs: 1_000 })).outcome, 'granted')
    await store.limits.acquire([patientRequest()])
    assert.equal(await acquireOutcome(store, { ...first, waitUpToMs: 1_000 }), 'later')
  }),
  test('a limit may change its type', async ({ store, clock }) => {
    await declare(store)
    await draw(store, { amount: 2 })
    assert.equal((await store.limits.change('api', { type: 'concurrency', most: 4 })).available, 4)
    hasFields(await store.limits.change('api', TEN), { settings: TEN, available: 2, held: 0 })
    clock.advance(1)
    assert.equal((await draw(store)).outcome, 'granted')
  }),
  test('a deleted limit is unknown, and one that is declared again starts fresh', async ({ store }) => {
    assert.equal(await store.limits.delete('api'), false)
    await declare(store, { ...TEN, burst: 1 })
    await draw(store)
    const late = patientRequest()
    await store.limits.acquire([late])
    assert.equal(await store.limits.delete('api'), true)
    assert.equal(await store.limits.delete('api'), false)
    assert.deepEqual(await store.limits.list(), [])
    assert.deepEqual(await draw(store), { outcome: 'unknown' })
    await declare(store, { ...TEN, burst: 1 })
    assert.equal((await apiLimit(store)).available, 1)
    await store.limits.acquire([patientRequest(), patientRequest()])
    // The late request has lost its place.
    assert.equal(await acquireOutcome(store, { ...late, waitUpToMs: 1_000 }), 'later')
  }),
  test('P13 a change racing acquires loses none of them', async ({ store, another }) => {
    const other = await another()
    await declare(store, { type: 'rate', amount: 1, perMs: HOUR, burst: 8 })
    let tokens = 0
    for (let round = 0; round < 6; round += 1) {
      const [replies] = await Promise.all([
        Promise.all([draw(store), draw(store)]),
        other.limits.change('api', { type: 'rate', amount: 1, perMs: HOUR + round, burst: 8 }),
      ])
      tokens += countGranted(replies)
    }
    assert.equal(tokens, 8)
    assert.equal((await apiLimit(store)).available, 0)
  }),
]
