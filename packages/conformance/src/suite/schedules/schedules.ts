/** Stored schedules: the definition in code, overrides, creation at run time, and deletion. */
import assert from 'node:assert/strict'
import type { ScheduleDefinition } from 'jobmill/store'
import { aDefinition, anInstance, aTick, HOUR } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck, rejectsWith } from '../looks.ts'
import { dailySchedule, declare, FRESH, NOT_TIMING, plan, TIMING } from './schedule-helpers.ts'

export const scheduleCases: readonly Case[] = [
  test('a schedule declared in code is created with its full definition, not planned', async (t) => {
    const definition = Object.assign({}, aDefinition(), ...TIMING, ...NOT_TIMING) as ScheduleDefinition
    await t.store.schedules.declare([{ name: 'daily', version: 3, definition }])
    const now = t.clock.now()
    const written = { name: 'daily', code: definition, version: 3, operator: {}, live: definition }
    t.clock.advance(5)
    assert.deepEqual(await (await t.another()).schedules.list(), [
      { ...written, ...FRESH, createdAt: now, readAt: t.clock.now() },
    ])
  }),
  test('P15 a declaration without changes writes nothing', async (t) => {
    await declare(t.store, 1, { tags: ['a', 'b'] })
    await plan(t.store, t.clock.now() + HOUR)
    const before = await dailySchedule(t.store)
    await declare(t.store, 1, { tags: ['a', 'b'] })
    assert.deepEqual(await dailySchedule(t.store), before)
    await declare(t.store, 2, { tags: ['a', 'b'] })
    assert.deepEqual(await dailySchedule(t.store), { ...before, version: 2 })
  }),
  test('a changed definition of the same or a higher version replaces the previous one', async (t) => {
    await declare(t.store, 1)
    await declare(t.store, 1, { priority: 1 })
    const first = aDefinition({ priority: 1 })
    hasFields(await dailySchedule(t.store), { live: first, code: first, version: 1, revision: 2 })
    await declare(t.store, 5, { priority: 2 })
    const second = aDefinition({ priority: 2 })
    hasFields(await dailySchedule(t.store), { live: second, code: second, version: 5, revision: 3 })
  }),
  test('a definition of a lower version than the stored one changes nothing: an old process started late', async (t) => {
    await declare(t.store, 5)
    const before = await dailySchedule(t.store)
    await declare(t.store, 4, { priority: 1, when: 'every 1h' })
    assert.deepEqual(await dailySchedule(t.store), before)
  }),
  test('P16 the error of a schedule is stored and cleared, and changes nothing else', async (t) => {
    await declare(t.store, 1)
    const before = await dailySchedule(t.store)
    await t.store.schedules.failed('daily', 'no such zone')
    assert.deepEqual(await dailySchedule(t.store), { ...before, error: 'no such zone' })
    await t.store.schedules.failed('daily', null)
    assert.deepEqual(await dailySchedule(t.store), before)
    await t.store.schedules.failed('nope', 'no')
    assert.equal((await t.store.schedules.list()).length, 1)
  }),
  test('P9 a heartbeat reports when a schedule that is not paused is to be planned or served', async (t) => {
    const tells = async (): Promise<number | null> => (await t.renew(anInstance().id)).scheduleInMs
    assert.equal(await tells(), null)
    await declare(t.store, 1)
    await t.store.schedules.create('hourly', aDefinition())
    assert.equal(await tells(), 0)
    await t.store.schedules.tick([aTick('hourly', { nextAt: t.clock.now() + HOUR })])
    assert.equal(await tells(), 0)
    await plan(t.store, t.clock.now() + 2 * HOUR)
    assert.equal(await tells(), HOUR)
    t.clock.advance(HOUR - 1)
    assert.equal(await tells(), 1)
    t.clock.advance(2)
    assert.equal(await tells(), 0)
    await t.store.schedules.change('hourly', { paused: true })
    assert.equal(await tells(), HOUR - 1)
    await t.store.schedules.delete('daily')
    assert.equal(await tells(), null)
    await t.store.schedules.change('hourly', { paused: false })
    assert.equal(await tells(), 0)
    await t.store.schedules.tick([aTick('hourly', { revision: 3, nextAt: null })])
    assert.equal(await tells(), null)
  }),
  test('schedules are sorted by name, without the deleted ones', async (t) => {
    const names = ['b', 'a', 'B', 'c', 'a.b', 'a-b']
    await t.store.schedules.declare(names.map((name) => ({ name, version: 1, definition: aDefinition() })))
    await t.store.schedules.delete('c')
    assert.deepEqual(pluck(await t.store.schedules.list(), 'name'), ['B', 'a', 'a-b', 'a.b', 'b'])
  }),
  test('concurrent declarations and creations from several handles make one schedule', async (t) => {
    const stores = await t.handles(3)
    await Promise.all(stores.map((each) => declare(each, 1)))
    assert.deepEqual(pluck(await t.store.schedules.list(), 'name', 'revision'), [['daily', 1]])
    const made = await Promise.allSettled(
      stores.map((each, n) => each.schedules.create('other', aDefinition({ priority: n }))),
    )
    const [winner, ...more] = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    assert.equal(more.length, 0)
    assert.deepEqual((await t.store.schedules.list())[1]?.live, winner?.live)
  }),
  test('a change of any part of the timing is planned again', async (t) => {
    await declare(t.store, 1)
    for (const [n, patch] of [...TIMING, { paused: false }].entries()) {
      if (!(await dailySchedule(t.store)).live.paused) await plan(t.store, t.clock.now() + HOUR)
      const changed = await t.store.schedules.change('daily', patch)
      hasFields(changed, { revision: n + 2, planned: false, nextAt: null })
    }
  }),
  test('a change of anything else keeps the plan, and raises the revision', async (t) => {
    await declare(t.store, 1)
    await plan(t.store, t.clock.now() + HOUR)
    for (const [n, patch] of NOT_TIMING.entries()) {
      const changed = await t.store.schedules.change('daily', patch)
      hasFields(changed, { revision: n + 2, planned: true, nextAt: t.clock.now() + HOUR })
    }
  }),
  test('an operator overrides the code option by option; an equal value changes nothing', async (t) => {
    await declare(t.store, 1)
    await t.store.schedules.change('daily', { priority: 4 })
    const changed = await t.store.schedules.change('daily', { tags: ['x'] })
    assert.deepEqual(changed, await dailySchedule(t.store))
    const operator = { priority: 4, tags: ['x'] }
    hasFields(changed, { operator, live: aDefinition(operator), code: aDefinition(), revision: 3 })
    for (const patch of [operator, {}])
      assert.equal((await t.store.schedules.change('daily', patch)).revision, 3)
  }),
  test('overrides survive every deploy, and the rest follows the code', async (t) => {
    await declare(t.store, 1)
    await t.store.schedules.change('daily', { priority: 4, overlap: 'allow' })
    await plan(t.store, t.clock.now() + HOUR)
    await declare(t.store, 2, { priority: 9, overlap: 'skip' })
    const code = aDefinition({ priority: 9, overlap: 'skip' })
    const live = aDefinition({ priority: 4, overlap: 'allow' })
    // The live definition is unchanged.
    hasFields(await dailySchedule(t.store), { live, code, revision: 2, planned: true })
    await declare(t.store, 3, { priority: 9, maxAttempts: 2 })
    hasFields(await dailySchedule(t.store), { live: { ...live, maxAttempts: 2 }, revision: 3 })
  }),
  test('a change of a missing schedule is rejected', async (t) => {
    await rejectsWith('SCHEDULE_UNKNOWN', () => t.store.schedules.change('daily', { paused: true }))
    await declare(t.store, 1)
    await t.store.schedules.delete('daily')
    await rejectsWith('SCHEDULE_UNKNOWN', () => t.store.schedules.change('daily', { paused: true }))
    assert.deepEqual(await t.store.schedules.list(), [])
  }),
  test('a schedule can be created at run time, once, and belongs to the operator', async (t) => {
    const live = aDefinition({ priority: 3 })
    const created = await t.store.schedules.create('daily', live)
    const times = { createdAt: t.clock.now(), readAt: t.clock.now() }
    const sources = { name: 'daily', code: null, version: null, operator: live, live }
    assert.deepEqual(created, { ...sources, ...FRESH, ...times })
    await rejectsWith('SCHEDULE_EXISTS', () => t.store.schedules.create('daily', aDefinition()))
    assert.deepEqual(await dailySchedule(t.store), created)
    await t.store.schedules.declare([{ name: 'of-code', version: 1, definition: live }])
    await rejectsWith('SCHEDULE_EXISTS', () => t.store.schedules.create('of-code', aDefinition()))
  }),
  test('a schedule created at run time gets a definition from code, and keeps the operator’s values', async (t) => {
    await t.store.schedules.create('daily', aDefinition({ priority: 3 }))
    await declare(t.store, 1, { priority: 9, when: 'every 1h' })
    const sources = {
      code: aDefinition({ priority: 9, when: 'every 1h' }),
      live: aDefinition({ priority: 3 }),
    }
    hasFields(await dailySchedule(t.store), { ...sources, version: 1, revision: 1 })
  }),
  test(
    'P12 a schedule that was deleted and created again never reuses a revision',
    async (t) => {
      await declare(t.store, 1)
      await plan(t.store, t.clock.now() + HOUR)
      await t.store.schedules.delete('daily')
      await t.store.overrides.reset('schedule', 'daily', null)
      assert.ok((await dailySchedule(t.store)).revision > 1)
      await t.store.schedules.delete('daily')
      const { revision } = await t.store.schedules.create('daily', aDefinition())
      assert.ok(revision > 2)
    },
    'overrides',
  ),
  test('a deleted schedule of the operator returns with a definition from code, without its earlier changes', async (t) => {
    await t.store.schedules.create('daily', aDefinition({ priority: 3 }))
    assert.equal(await t.store.schedules.delete('daily'), true)
    assert.deepEqual(await t.store.schedules.list(), [])
    t.clock.advance(5)
    await declare(t.store, 1)
    const back = { revision: 2, planned: false, operator: {}, live: aDefinition() }
    hasFields(await dailySchedule(t.store), back)
  }),
  test('deleting twice, or an unknown name, does nothing', async (t) => {
    assert.equal(await t.store.schedules.delete('daily'), false)
    await declare(t.store, 1)
    await t.store.schedules.create('other', aDefinition())
    for (const name of ['daily', 'other']) {
      assert.equal(await t.store.schedules.delete(name), true)
      assert.equal(await t.store.schedules.delete(name), false)
    }
  }),
  test('a deleted schedule can be created again as given, as if new, with no ticks, misses or errors', async (t) => {
    await declare(t.store, 1)
    await plan(t.store, t.clock.now())
    await t.store.schedules.tick([
      aTick('daily', { from: t.clock.now(), nextAt: t.clock.now() + 1, missed: 3 }),
    ])
    await t.store.schedules.failed('daily', 'no')
    await t.store.schedules.change('daily', { maxAttempts: 1 })
    await t.store.schedules.delete('daily')
    t.clock.advance(HOUR)
    const { revision, ...record } = await t.store.schedules.create('daily', aDefinition({ priority: 3 }))
    const { revision: _, ...fresh } = FRESH
    assert.ok(revision > 1)
    const operator = { priority: 3 }
    const sources = { name: 'daily', code: aDefinition(), version: 1, operator, live: aDefinition(operator) }
    const times = { createdAt: t.clock.now(), readAt: t.clock.now() }
    assert.deepEqual(record, { ...sources, ...fresh, ...times })
  }),
  test('concurrent changes from several handles are all kept', async (t) => {
    const stores = await t.handles(3)
    await declare(t.store, 1)
    const patches = [{ priority: 5 }, { maxAttempts: 7 }, { tags: ['t'] }]
    await Promise.all(stores.map((each, n) => each.schedules.change('daily', patches[n] ?? {})))
    const operator = { priority: 5, maxAttempts: 7, tags: ['t'] }
    hasFields(await dailySchedule(t.store), { operator, revision: 4 })
  }),
]
