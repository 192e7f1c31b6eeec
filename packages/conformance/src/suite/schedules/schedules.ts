/** Stored schedules: the definition in code, overrides, and the live definition. */
import assert from 'node:assert/strict'
import type { ScheduleDefinition } from 'jobmill/store'
import { aDefinition, aHeartbeat, aTick, anInstance } from '../../factories.ts'
import { HOUR } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { pluck } from '../looks.ts'
import { dailySchedule, declare, FRESH, NOT_TIMING, plan, TIMING } from './schedule-helpers.ts'

export const scheduleCases: readonly Case[] = [
  test('a schedule declared in code is created with its full definition, not planned', async (t) => {
    const { store, clock, another } = t
    const definition = Object.assign({}, aDefinition(), ...TIMING, ...NOT_TIMING) as ScheduleDefinition
    await store.schedules.declare([{ name: 'daily', version: 3, definition }])
    const now = clock.now()
    const written = { name: 'daily', code: definition, version: 3, operator: {}, live: definition }
    clock.advance(5)
    assert.deepEqual(await (await another()).schedules.list(), [
      { ...written, ...FRESH, createdAt: now, readAt: clock.now() },
    ])
  }),
  test('P15 a declaration without changes writes nothing', async ({ store, clock }) => {
    await declare(store, 1, { tags: ['a', 'b'] })
    await plan(store, clock.now() + HOUR)
    const before = await dailySchedule(store)
    await declare(store, 1, { tags: ['a', 'b'] })
    assert.deepEqual(await dailySchedule(store), before)
    await declare(store, 2, { tags: ['a', 'b'] })
    assert.deepEqual(await dailySchedule(store), { ...before, version: 2 })
  }),
  test('a changed definition of the same or a higher version replaces the previous one', async (t) => {
    const { store } = t
    await declare(store, 1)
    await declare(store, 1, { priority: 1 })
    let { live, code, version, revision } = await dailySchedule(store)
    assert.deepEqual([live.priority, code?.priority, version, revision], [1, 1, 1, 2])
    await declare(store, 5, { priority: 2 })
    ;({ live, code, version, revision } = await dailySchedule(store))
    assert.deepEqual([live.priority, code?.priority, version, revision], [2, 2, 5, 3])
  }),
  test('a definition of a lower version than the stored one changes nothing: an old process started late', async (t) => {
    const { store } = t
    await declare(store, 5)
    const before = await dailySchedule(store)
    await declare(store, 4, { priority: 1, when: 'every 1h' })
    assert.deepEqual(await dailySchedule(store), before)
  }),
  test('P16 the error of a schedule is stored and cleared, and changes nothing else', async ({ store }) => {
    await declare(store, 1)
    const before = await dailySchedule(store)
    await store.schedules.failed('daily', 'no such zone')
    assert.deepEqual(await dailySchedule(store), { ...before, error: 'no such zone' })
    await store.schedules.failed('daily', null)
    assert.deepEqual(await dailySchedule(store), before)
    await store.schedules.failed('nope', 'no')
    assert.equal((await store.schedules.list()).length, 1)
  }),
  test('P9 a heartbeat reports when a schedule that is not paused is to be planned or served', async (t) => {
    const { store, clock } = t
    const tells = async (): Promise<number | null> =>
      (await store.instances.renew(aHeartbeat(anInstance().id))).scheduleInMs
    assert.equal(await tells(), null)
    await declare(store, 1)
    await store.schedules.create('hourly', aDefinition())
    assert.equal(await tells(), 0)
    await store.schedules.tick([aTick('hourly', { nextAt: clock.now() + HOUR })])
    assert.equal(await tells(), 0)
    await plan(store, clock.now() + 2 * HOUR)
    assert.equal(await tells(), HOUR)
    clock.advance(HOUR - 1)
    assert.equal(await tells(), 1)
    clock.advance(2)
    assert.equal(await tells(), 0)
    await store.schedules.change('hourly', { paused: true })
    assert.equal(await tells(), HOUR - 1)
    await store.schedules.delete('daily')
    assert.equal(await tells(), null)
    await store.schedules.change('hourly', { paused: false })
    assert.equal(await tells(), 0)
    await store.schedules.tick([aTick('hourly', { revision: 3, nextAt: null })])
    assert.equal(await tells(), null)
  }),
  test('schedules are sorted by name, without the deleted ones', async ({ store }) => {
    const names = ['b', 'a', 'B', 'c', 'a.b', 'a-b']
    await store.schedules.declare(names.map((name) => ({ name, version: 1, definition: aDefinition() })))
    await store.schedules.delete('c')
    assert.deepEqual(pluck(await store.schedules.list(), 'name'), ['B', 'a', 'a-b', 'a.b', 'b'])
  }),
  test('concurrent declarations and creations from several handles make one schedule', async (t) => {
    const { store, another } = t
    const stores = [store, await another(), await another()]
    await Promise.all(stores.map((each) => declare(each, 1)))
    assert.deepEqual(pluck(await store.schedules.list(), 'name', 'revision'), [['daily', 1]])
    const made = await Promise.allSettled(
      stores.map((each, n) => each.schedules.create('other', aDefinition({ priority: n }))),
    )
    const [winner, ...more] = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    assert.equal(more.length, 0)
    assert.deepEqual((await store.schedules.list())[1]?.live, winner?.live)
  }),
]
