/**
 * N1: deleting a schedule of code is an override, and so is a schedule that an operator creates in its place.
 */
import assert from 'node:assert/strict'
import { aDefinition, HOUR } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck, rejectsWith } from '../looks.ts'
import { dailySchedule, declare, plan, tick } from './schedule-helpers.ts'

const OPTION = { what: 'schedule', name: 'daily', option: 'deleted' }
const DELETED = { ...OPTION, value: true, code: false, isInCode: true, isApplied: true }

export const deletedScheduleCases: readonly Case[] = [
  test('N1 deleting a schedule of code is listed with author and time, survives every release, and can be reset', async (t) => {
    await declare(t.store, 2)
    const { createdAt } = await dailySchedule(t.store)
    await plan(t.store, t.clock.now() + HOUR)
    await t.store.schedules.change('daily', { priority: 4 }, 'ana')
    t.clock.advance(5)
    const at = t.clock.now()
    assert.equal(await t.store.schedules.delete('daily', 'ops'), true)
    // The deletion removed its other overrides.
    assert.deepEqual(await t.store.overrides.list(), [{ ...DELETED, by: 'ops', at }])
    t.clock.advance(5)
    const other = await t.another()
    for (const [n, version] of [1, 2, 3, 1].entries()) await declare(other, version, { maxAttempts: n + 1 })
    assert.deepEqual(await t.store.schedules.list(), [])
    assert.deepEqual(await t.store.overrides.list(), [{ ...DELETED, by: 'ops', at }])
    assert.deepEqual(await t.store.overrides.reset('schedule', 'daily', ['priority']), [])
    assert.deepEqual(await other.schedules.list(), [])
    assert.deepEqual(await t.store.overrides.reset('schedule', 'daily', ['deleted', 'priority']), ['deleted'])
    const back = await dailySchedule(other)
    assert.deepEqual(back.live, aDefinition({ maxAttempts: 3 }))
    hasFields(back, { operator: {}, version: 3, planned: false, nextAt: null, createdAt })
    assert.deepEqual(await t.store.overrides.list(), [])
    await t.store.schedules.delete('daily')
    assert.deepEqual(await t.store.overrides.list(), [{ ...DELETED, by: null, at: t.clock.now() }])
    assert.deepEqual(await t.store.overrides.reset('schedule', 'daily', null), ['deleted'])
    assert.deepEqual(await t.store.overrides.reset('schedule', 'daily', null), [])
  }),
  test('N1 P12 a schedule whose deletion was reset is planned again, and an earlier plan is refused', async (t) => {
    await declare(t.store, 1)
    await plan(t.store, t.clock.now() + HOUR)
    const { revision, nextAt: from } = await dailySchedule(t.store)
    await t.store.schedules.delete('daily')
    await t.store.overrides.reset('schedule', 'daily', null)
    const late = await tick(t.store, { revision, from, nextAt: t.clock.now() + 2 * HOUR })
    assert.equal(late.accepted, false)
    await plan(t.store, t.clock.now() + HOUR)
  }),
  test('N1 deleting a schedule that code does not define is not an override, and cannot be reset', async (t) => {
    await t.store.schedules.create('daily', aDefinition(), 'ops')
    await t.store.schedules.delete('daily', 'ops')
    assert.deepEqual(await t.store.overrides.list(), [])
    await rejectsWith('SCHEDULE_UNKNOWN', () => t.store.overrides.reset('schedule', 'daily', null))
    await declare(t.store, 0)
    assert.deepEqual([(await dailySchedule(t.store)).operator, await t.store.overrides.list()], [{}, []])
  }),
  test('N1 a schedule created in place of a deleted one overrides only what was given or differs from code', async (t) => {
    await declare(t.store, 1, { priority: 2, tags: ['a', 'b'], payload: '{"n": 1}' })
    await t.store.schedules.delete('daily', 'ana')
    const definition = aDefinition({ priority: 3, tags: ['a', 'b'], payload: '{"n": 1}' })
    const made = await t.store.schedules.create('daily', definition, 'ops', ['when', 'paused'])
    hasFields(made, { live: definition, operator: { when: definition.when, priority: 3 } })
    const overrides = await t.store.overrides.list()
    assert.deepEqual(pluck(overrides, 'option'), ['priority', 'when'])
    assert.deepEqual(pluck(overrides, 'by'), ['ops', 'ops'])
    await declare(t.store, 2, { priority: 4, maxAttempts: 9, when: 'every 1h' })
    const { live } = await dailySchedule(t.store)
    hasFields(live, { priority: 3, maxAttempts: 9, when: definition.when })
    assert.deepEqual(await t.store.overrides.reset('schedule', 'daily', null), ['priority', 'when'])
    assert.deepEqual((await dailySchedule(t.store)).live, (await dailySchedule(t.store)).code)
  }),
]
