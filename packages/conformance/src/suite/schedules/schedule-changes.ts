/** Operations on schedules: overrides, creation at run time, deletion. */
import assert from 'node:assert/strict'
import { aDefinition, aTick } from '../../factories.ts'
import { HOUR } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, rejectsWith } from '../looks.ts'
import { dailySchedule, declare, FRESH, NOT_TIMING, plan, TIMING } from './schedule-helpers.ts'

export const scheduleChangeCases: readonly Case[] = [
  test('a change of any part of the timing is planned again', async ({ store, clock }) => {
    await declare(store, 1)
    let revision = 1
    for (const patch of [...TIMING, { paused: false }]) {
      if (!(await dailySchedule(store)).live.paused) await plan(store, clock.now() + HOUR)
      const changed = await store.schedules.change('daily', patch)
      revision += 1
      assert.deepEqual([changed.revision, changed.planned, changed.nextAt], [revision, false, null])
    }
  }),
  test('a change of anything else keeps the plan, and raises the revision', async ({ store, clock }) => {
    await declare(store, 1)
    await plan(store, clock.now() + HOUR)
    let revision = 1
    for (const patch of NOT_TIMING) {
      const changed = await store.schedules.change('daily', patch)
      revision += 1
      hasFields(changed, { revision, planned: true, nextAt: clock.now() + HOUR })
    }
  }),
  test('an operator overrides the code option by option; an equal value is no change', async ({ store }) => {
    await declare(store, 1)
    await store.schedules.change('daily', { priority: 4 })
    const changed = await store.schedules.change('daily', { tags: ['x'] })
    assert.deepEqual(changed, await dailySchedule(store))
    assert.deepEqual(changed.operator, { priority: 4, tags: ['x'] })
    assert.deepEqual(changed.live, aDefinition({ priority: 4, tags: ['x'] }))
    hasFields(changed, { code: aDefinition(), revision: 3 })
    assert.equal((await store.schedules.change('daily', { priority: 4, tags: ['x'] })).revision, 3)
    assert.equal((await store.schedules.change('daily', {})).revision, 3)
  }),
  test('overrides survive every deploy, and the rest follows the code', async ({ store, clock }) => {
    await declare(store, 1)
    await store.schedules.change('daily', { priority: 4, overlap: 'allow' })
    await plan(store, clock.now() + HOUR)
    await declare(store, 2, { priority: 9, overlap: 'skip' })
    let record = await dailySchedule(store)
    assert.deepEqual([record.live.priority, record.live.overlap, record.code?.priority], [4, 'allow', 9])
    // The live definition is unchanged.
    assert.deepEqual([record.revision, record.planned], [2, true])
    await declare(store, 3, { priority: 9, maxAttempts: 2 })
    record = await dailySchedule(store)
    assert.deepEqual([record.live.priority, record.live.maxAttempts, record.revision], [4, 2, 3])
  }),
  test('a change of a missing schedule is rejected', async ({ store }) => {
    await rejectsWith('SCHEDULE_UNKNOWN', () => store.schedules.change('daily', { paused: true }))
    await declare(store, 1)
    await store.schedules.delete('daily')
    await rejectsWith('SCHEDULE_UNKNOWN', () => store.schedules.change('daily', { paused: true }))
    assert.deepEqual(await store.schedules.list(), [])
  }),
  test('a schedule can be created at run time, once, and belongs to the operator', async (t) => {
    const { store, clock } = t
    const definition = aDefinition({ priority: 3 })
    const created = await store.schedules.create('daily', definition)
    assert.deepEqual(created, {
      name: 'daily',
      code: null,
      version: null,
      operator: definition,
      live: definition,
      ...FRESH,
      createdAt: clock.now(),
      readAt: clock.now(),
    })
    await rejectsWith('SCHEDULE_EXISTS', () => store.schedules.create('daily', aDefinition()))
    assert.deepEqual(await dailySchedule(store), created)
    await store.schedules.declare([{ name: 'of-code', version: 1, definition: aDefinition() }])
    await rejectsWith('SCHEDULE_EXISTS', () => store.schedules.create('of-code', aDefinition()))
  }),
  test('a schedule created at run time gets a definition from code, and keeps the operator’s values', async (t) => {
    const { store } = t
    await store.schedules.create('daily', aDefinition({ priority: 3 }))
    await declare(store, 1, { priority: 9, when: 'every 1h' })
    const { code, version, live, revision } = await dailySchedule(store)
    assert.deepEqual([code?.priority, version, revision], [9, 1, 1])
    assert.deepEqual(live, aDefinition({ priority: 3 }))
  }),
  test('P12 a schedule that was deleted and created again never reuses a revision', async (t) => {
    const { store, clock } = t
    await declare(store, 1)
    await plan(store, clock.now() + HOUR)
    await store.schedules.delete('daily')
    await store.overrides.reset('schedule', 'daily', null)
    assert.ok((await dailySchedule(store)).revision > 1)
    await store.schedules.delete('daily')
    const { revision } = await store.schedules.create('daily', aDefinition())
    assert.ok(revision > 2)
  }),
  test('a deleted schedule of the operator returns with a definition from code, without its earlier changes', async (t) => {
    const { store, clock } = t
    await store.schedules.create('daily', aDefinition({ priority: 3 }))
    assert.equal(await store.schedules.delete('daily'), true)
    assert.deepEqual(await store.schedules.list(), [])
    clock.advance(5)
    await declare(store, 1)
    hasFields(await dailySchedule(store), {
      revision: 2,
      planned: false,
      operator: {},
      live: aDefinition(),
    })
  }),
  test('deleting twice, or an unknown name, does nothing', async ({ store }) => {
    assert.equal(await store.schedules.delete('daily'), false)
    await declare(store, 1)
    await store.schedules.create('other', aDefinition())
    for (const name of ['daily', 'other']) {
      assert.equal(await store.schedules.delete(name), true)
      assert.equal(await store.schedules.delete(name), false)
    }
  }),
  test('a deleted schedule can be created again as given, as if new, with no ticks, misses or errors', async (t) => {
    const { store, clock } = t
    await declare(store, 1)
    await plan(store, clock.now())
    await store.schedules.tick([aTick('daily', { from: clock.now(), nextAt: clock.now() + 1, missed: 3 })])
    await store.schedules.failed('daily', 'no')
    await store.schedules.change('daily', { maxAttempts: 1 })
    await store.schedules.delete('daily')
    clock.advance(HOUR)
    const { revision, ...record } = await store.schedules.create('daily', aDefinition({ priority: 3 }))
    const { revision: _, ...fresh } = FRESH
    assert.ok(revision > 1)
    assert.deepEqual(record, {
      name: 'daily',
      code: aDefinition(),
      version: 1,
      operator: { priority: 3 },
      live: aDefinition({ priority: 3 }),
      ...fresh,
      createdAt: clock.now(),
      readAt: clock.now(),
    })
  }),
  test('concurrent changes from several handles are all kept', async ({ store, another }) => {
    const stores = [store, await another(), await another()]
    await declare(store, 1)
    const patches = [{ priority: 5 }, { maxAttempts: 7 }, { tags: ['t'] }]
    await Promise.all(stores.map((each, n) => each.schedules.change('daily', patches[n] ?? {})))
    hasFields(await dailySchedule(store), {
      operator: { priority: 5, maxAttempts: 7, tags: ['t'] },
      revision: 4,
    })
  }),
]
