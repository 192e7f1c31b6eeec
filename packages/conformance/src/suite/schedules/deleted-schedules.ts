/**
 * N1: deleting a schedule of code is an override, and so is a schedule that an operator creates in its place.
 */
import assert from 'node:assert/strict'
import type { FullStore } from 'jobmill/store'
import { aDefinition, aTick } from '../../factories.ts'
import { HOUR } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, rejectsWith } from '../looks.ts'
import { dailySchedule, declare, plan } from './schedule-helpers.ts'

const DELETED = {
  what: 'schedule',
  name: 'daily',
  option: 'deleted',
  value: true,
  code: false,
  isInCode: true,
  isApplied: true,
}

const optionsAndWho = async (store: FullStore): Promise<[string, string | null][]> =>
  (await store.overrides.list()).map(({ option, by }) => [option, by])

export const deletedScheduleCases: readonly Case[] = [
  test('N1 deleting a schedule of code is listed with author and time, survives every release, and can be reset', async (t) => {
    const { store, another, clock } = t
    await declare(store, 2)
    const { createdAt } = await dailySchedule(store)
    await plan(store, clock.now() + HOUR)
    await store.schedules.change('daily', { priority: 4 }, 'ana')
    clock.advance(5)
    const at = clock.now()
    assert.equal(await store.schedules.delete('daily', 'ops'), true)
    // The deletion removed its other overrides.
    assert.deepEqual(await store.overrides.list(), [{ ...DELETED, by: 'ops', at }])
    clock.advance(5)
    const other = await another()
    for (const [version, maxAttempts] of [
      [1, 1],
      [2, 2],
      [3, 3],
      [1, 4],
    ] as const)
      await declare(other, version, { maxAttempts })
    assert.deepEqual(await store.schedules.list(), [])
    assert.deepEqual(await store.overrides.list(), [{ ...DELETED, by: 'ops', at }])
    assert.deepEqual(await store.overrides.reset('schedule', 'daily', ['priority']), [])
    assert.deepEqual(await other.schedules.list(), [])
    assert.deepEqual(await store.overrides.reset('schedule', 'daily', ['deleted', 'priority']), ['deleted'])
    const back = await dailySchedule(other)
    assert.deepEqual(back.live, aDefinition({ maxAttempts: 3 }))
    hasFields(back, { operator: {}, version: 3, planned: false, nextAt: null, createdAt })
    assert.deepEqual(await store.overrides.list(), [])
    await store.schedules.delete('daily')
    assert.deepEqual(await store.overrides.list(), [{ ...DELETED, by: null, at: clock.now() }])
    assert.deepEqual(await store.overrides.reset('schedule', 'daily', null), ['deleted'])
    assert.deepEqual(await store.overrides.reset('schedule', 'daily', null), [])
  }),
  test('N1 P12 a schedule whose deletion was reset is planned again, and an earlier plan is refused', async (t) => {
    const { store, clock } = t
    await declare(store, 1)
    await plan(store, clock.now() + HOUR)
    const { revision, nextAt: from } = await dailySchedule(store)
    await store.schedules.delete('daily')
    await store.overrides.reset('schedule', 'daily', null)
    const [late] = await store.schedules.tick([
      aTick('daily', { revision, from, nextAt: clock.now() + 2 * HOUR }),
    ])
    assert.equal(late?.accepted, false)
    await plan(store, clock.now() + HOUR)
  }),
  test('N1 deleting a schedule that code does not define is not an override, and cannot be reset', async (t) => {
    const { store } = t
    await store.schedules.create('daily', aDefinition(), 'ops')
    await store.schedules.delete('daily', 'ops')
    assert.deepEqual(await store.overrides.list(), [])
    await rejectsWith('SCHEDULE_UNKNOWN', () => store.overrides.reset('schedule', 'daily', null))
    await declare(store, 0)
    assert.deepEqual([(await dailySchedule(store)).operator, await store.overrides.list()], [{}, []])
  }),
  test('N1 a schedule created in place of a deleted one overrides only what was given or differs from code', async (t) => {
    const { store } = t
    await declare(store, 1, { priority: 2, tags: ['a', 'b'], payload: '{"n": 1}' })
    await store.schedules.delete('daily', 'ana')
    const definition = aDefinition({ priority: 3, tags: ['a', 'b'], payload: '{"n": 1}' })
    const made = await store.schedules.create('daily', definition, 'ops', ['when', 'paused'])
    hasFields(made, { live: definition, operator: { when: definition.when, priority: 3 } })
    assert.deepEqual(await optionsAndWho(store), [
      ['priority', 'ops'],
      ['when', 'ops'],
    ])
    await declare(store, 2, { priority: 4, maxAttempts: 9, when: 'every 1h' })
    const { live } = await dailySchedule(store)
    assert.deepEqual([live.priority, live.maxAttempts, live.when], [3, 9, definition.when])
    assert.deepEqual(await store.overrides.reset('schedule', 'daily', null), ['priority', 'when'])
    assert.deepEqual((await dailySchedule(store)).live, (await dailySchedule(store)).code)
  }),
]
