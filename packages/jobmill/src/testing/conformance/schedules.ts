/** Schedules as they are stored: what code says, what an operator changed on top, and what counts. */
import assert from 'node:assert/strict'
import type { ScheduleDefinition } from '../../job/schedule.ts'
import type { ScheduleRecord } from '../../store/schedule.ts'
import type { Store } from '../../store/store.ts'
import { aDefinition, aPulse, aTick, anInstance } from '../factories.ts'
import { HOUR } from './bench.ts'
import type { Case } from './case.ts'
import { rejectsWith } from './looks.ts'

/** Declares the schedule `daily`. */
async function declare(
  store: Store,
  version: number,
  overrides: Partial<ScheduleDefinition> = {},
): Promise<void> {
  await store.declareSchedules([{ name: 'daily', version, definition: aDefinition(overrides) }])
}

async function daily(store: Store): Promise<ScheduleRecord> {
  const found = (await store.schedules()).find(({ name }) => name === 'daily')
  assert.ok(found, 'there is no schedule daily')
  return found
}

/** A first plan for `daily` as it is now. */
async function plan(store: Store, nextAt: number): Promise<void> {
  const { revision } = await daily(store)
  const [ticked] = await store.tick([aTick('daily', { revision, nextAt })])
  assert.equal(ticked?.accepted, true)
}

const FRESH = {
  revision: 1,
  planned: false,
  nextAt: null,
  lastAt: null,
  lastOutcome: null,
  lastJob: null,
  missed: 0,
  error: null,
}

const TIMING: readonly Partial<ScheduleDefinition>[] = [
  { when: 'every 10m' },
  { zone: 'Europe/Rome' },
  { startAt: 5 },
  { endAt: 7_000_000_000_000 },
  { paused: true },
]

const NOT_TIMING: readonly Partial<ScheduleDefinition>[] = [
  { jitterMs: 5 },
  { missed: 'all' },
  { missedWithinMs: 5 },
  { overlap: 'skip' },
  { kind: 'other' },
  { queue: 'other' },
  { payload: '{"a": [1]}' },
  { priority: -3 },
  { maxAttempts: 1 },
  { timeoutMs: 60_000 },
  { tags: ['b', 'a'] },
]

export const scheduleCases: readonly Case[] = [
  {
    name: 'a schedule that code declares comes into being with all that it says, not planned',
    async run({ store, clock, another }) {
      const definition = Object.assign({}, aDefinition(), ...TIMING, ...NOT_TIMING) as ScheduleDefinition
      await store.declareSchedules([{ name: 'daily', version: 3, definition }])
      const now = clock.now()
      const written = { name: 'daily', code: definition, version: 3, operator: {}, live: definition }
      clock.advance(5)
      assert.deepEqual(await (await another()).schedules(), [
        { ...written, ...FRESH, createdAt: now, readAt: clock.now() },
      ])
    },
  },
  {
    name: 'P15 a declaration of what is there already changes nothing',
    async run({ store, clock }) {
      await declare(store, 1, { tags: ['a', 'b'] })
      await plan(store, clock.now() + HOUR)
      const before = await daily(store)
      await declare(store, 1, { tags: ['a', 'b'] })
      assert.deepEqual(await daily(store), before)
      await declare(store, 2, { tags: ['a', 'b'] })
      assert.deepEqual(await daily(store), { ...before, version: 2 })
    },
  },
  {
    name: 'a changed definition of the same or a higher version takes the place of the one before',
    async run({ store }) {
      await declare(store, 1)
      await declare(store, 1, { priority: 1 })
      let { live, code, version, revision } = await daily(store)
      assert.deepEqual([live.priority, code?.priority, version, revision], [1, 1, 1, 2])
      await declare(store, 5, { priority: 2 })
      ;({ live, code, version, revision } = await daily(store))
      assert.deepEqual([live.priority, code?.priority, version, revision], [2, 2, 5, 3])
    },
  },
  {
    name: 'a definition of a lower version than the stored one changes nothing: an old process came late',
    async run({ store }) {
      await declare(store, 5)
      const before = await daily(store)
      await declare(store, 4, { priority: 1, when: 'every 1h' })
      assert.deepEqual(await daily(store), before)
    },
  },
  {
    name: 'a change of the timing is planned anew, whichever part of it changed',
    async run({ store, clock }) {
      await declare(store, 1)
      let revision = 1
      for (const patch of [...TIMING, { paused: false }]) {
        if (!(await daily(store)).live.paused) await plan(store, clock.now() + HOUR)
        const changed = await store.changeSchedule('daily', patch)
        revision += 1
        assert.deepEqual([changed.revision, changed.planned, changed.nextAt], [revision, false, null])
      }
    },
  },
  {
    name: 'a change of anything else keeps the plan, and raises the revision',
    async run({ store, clock }) {
      await declare(store, 1)
      await plan(store, clock.now() + HOUR)
      let revision = 1
      for (const patch of NOT_TIMING) {
        const changed = await store.changeSchedule('daily', patch)
        revision += 1
        assert.deepEqual(
          [changed.revision, changed.planned, changed.nextAt],
          [revision, true, clock.now() + HOUR],
        )
      }
    },
  },
  {
    name: 'an operator changes what code says, piece by piece; what was changed to the same is no change',
    async run({ store }) {
      await declare(store, 1)
      await store.changeSchedule('daily', { priority: 4 })
      const changed = await store.changeSchedule('daily', { tags: ['x'] })
      assert.deepEqual(changed, await daily(store))
      assert.deepEqual(changed.operator, { priority: 4, tags: ['x'] })
      assert.deepEqual(changed.live, aDefinition({ priority: 4, tags: ['x'] }))
      assert.deepEqual(changed.code, aDefinition())
      assert.equal(changed.revision, 3)
      assert.equal((await store.changeSchedule('daily', { priority: 4, tags: ['x'] })).revision, 3)
      assert.equal((await store.changeSchedule('daily', {})).revision, 3)
    },
  },
  {
    name: 'what an operator changed outlives every deploy, and the rest follows the code',
    async run({ store, clock }) {
      await declare(store, 1)
      await store.changeSchedule('daily', { priority: 4, paused: false })
      await plan(store, clock.now() + HOUR)
      await declare(store, 2, { priority: 9, paused: true })
      let record = await daily(store)
      assert.deepEqual([record.live.priority, record.live.paused, record.code?.priority], [4, false, 9])
      // What counts is what it was.
      assert.deepEqual([record.revision, record.planned], [2, true])
      await declare(store, 3, { priority: 9, maxAttempts: 2 })
      record = await daily(store)
      assert.deepEqual([record.live.priority, record.live.maxAttempts, record.revision], [4, 2, 3])
    },
  },
  {
    name: 'a change of a schedule that is not there is refused',
    async run({ store }) {
      await rejectsWith('SCHEDULE_UNKNOWN', () => store.changeSchedule('daily', { paused: true }))
      await declare(store, 1)
      await store.deleteSchedule('daily')
      await rejectsWith('SCHEDULE_UNKNOWN', () => store.changeSchedule('daily', { paused: true }))
      assert.deepEqual(await store.schedules(), [])
    },
  },
  {
    name: 'one can be created at run time, once, and belongs to the operator',
    async run({ store, clock }) {
      const definition = aDefinition({ priority: 3 })
      const created = await store.createSchedule('daily', definition)
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
      await rejectsWith('SCHEDULE_EXISTS', () => store.createSchedule('daily', aDefinition()))
      assert.deepEqual(await daily(store), created)
      await store.declareSchedules([{ name: 'of-code', version: 1, definition: aDefinition() }])
      await rejectsWith('SCHEDULE_EXISTS', () => store.createSchedule('of-code', aDefinition()))
    },
  },
  {
    name: 'one that was created at run time gets a definition of code, and still counts as the operator made it',
    async run({ store }) {
      await store.createSchedule('daily', aDefinition({ priority: 3 }))
      await declare(store, 1, { priority: 9, when: 'every 1h' })
      const { code, version, live, revision } = await daily(store)
      assert.deepEqual([code?.priority, version, revision], [9, 1, 1])
      assert.deepEqual(live, aDefinition({ priority: 3 }))
    },
  },
  {
    name: 'one of code that was deleted stays so through every start, until code has a higher version of it',
    async run({ store, clock }) {
      await declare(store, 2)
      await plan(store, clock.now() + HOUR)
      await store.changeSchedule('daily', { priority: 4 })
      assert.equal(await store.deleteSchedule('daily'), true)
      await declare(store, 1, { maxAttempts: 1 })
      await declare(store, 2, { maxAttempts: 1 })
      assert.deepEqual(await store.schedules(), [])
      await declare(store, 3, { maxAttempts: 2 })
      const { live, operator, version, planned, nextAt } = await daily(store)
      assert.deepEqual(live, aDefinition({ maxAttempts: 2 }))
      assert.deepEqual([operator, version, planned, nextAt], [{}, 3, false, null])
    },
  },
  {
    name: 'P12 one that was deleted and came back never has a revision that it had before',
    async run({ store, clock }) {
      await declare(store, 1)
      await plan(store, clock.now() + HOUR)
      await store.deleteSchedule('daily')
      await declare(store, 2)
      assert.ok((await daily(store)).revision > 1)
      await store.deleteSchedule('daily')
      const { revision } = await store.createSchedule('daily', aDefinition())
      assert.ok(revision > 2)
    },
  },
  {
    name: 'one of the operator is removed for good: the next of its name is new',
    async run({ store, clock }) {
      await store.createSchedule('daily', aDefinition({ priority: 3 }))
      await store.scheduleFailed('daily', 'no')
      assert.equal(await store.deleteSchedule('daily'), true)
      assert.deepEqual(await store.schedules(), [])
      clock.advance(5)
      await declare(store, 1)
      const { createdAt, error, operator, live } = await daily(store)
      assert.deepEqual([createdAt, error, operator], [clock.now(), null, {}])
      assert.deepEqual(live, aDefinition())
    },
  },
  {
    name: 'there is nothing to delete twice, or of a name that nobody has',
    async run({ store }) {
      assert.equal(await store.deleteSchedule('daily'), false)
      await declare(store, 1)
      await store.createSchedule('other', aDefinition())
      for (const name of ['daily', 'other']) {
        assert.equal(await store.deleteSchedule(name), true)
        assert.equal(await store.deleteSchedule(name), false)
      }
    },
  },
  {
    name: 'a deleted one can be created again: as it is given, as if new, and nothing is served, missed or failed',
    async run({ store, clock }) {
      await declare(store, 1)
      await plan(store, clock.now())
      await store.tick([aTick('daily', { from: clock.now(), nextAt: clock.now() + 1, missed: 3 })])
      await store.scheduleFailed('daily', 'no')
      await store.changeSchedule('daily', { maxAttempts: 1 })
      await store.deleteSchedule('daily')
      clock.advance(HOUR)
      const { revision, ...record } = await store.createSchedule('daily', aDefinition({ priority: 3 }))
      const { revision: _, ...fresh } = FRESH
      assert.ok(revision > 1)
      assert.deepEqual(record, {
        name: 'daily',
        code: aDefinition(),
        version: 1,
        operator: aDefinition({ priority: 3 }),
        live: aDefinition({ priority: 3 }),
        ...fresh,
        createdAt: clock.now(),
        readAt: clock.now(),
      })
    },
  },
  {
    name: 'P16 why a schedule could not be served is noted and forgotten, and changes nothing else',
    async run({ store }) {
      await declare(store, 1)
      const before = await daily(store)
      await store.scheduleFailed('daily', 'no such\u0000zone')
      assert.deepEqual(await daily(store), { ...before, error: 'no such\ufffdzone' })
      await store.scheduleFailed('daily', null)
      assert.deepEqual(await daily(store), before)
      await store.scheduleFailed('nope', 'no')
      assert.equal((await store.schedules()).length, 1)
    },
  },
  {
    name: 'P9 a pulse tells when a schedule is to be planned or served, of those that are not paused',
    async run({ store, clock }) {
      const tells = async (): Promise<number | null> =>
        (await store.renew(aPulse(anInstance().id))).scheduleInMs
      assert.equal(await tells(), null)
      await declare(store, 1)
      await store.createSchedule('hourly', aDefinition())
      assert.equal(await tells(), 0)
      await store.tick([aTick('hourly', { nextAt: clock.now() + HOUR })])
      assert.equal(await tells(), 0)
      await plan(store, clock.now() + 2 * HOUR)
      assert.equal(await tells(), HOUR)
      clock.advance(HOUR - 1)
      assert.equal(await tells(), 1)
      clock.advance(2)
      assert.equal(await tells(), 0)
      await store.changeSchedule('hourly', { paused: true })
      assert.equal(await tells(), HOUR - 1)
      await store.deleteSchedule('daily')
      assert.equal(await tells(), null)
      await store.changeSchedule('hourly', { paused: false })
      assert.equal(await tells(), 0)
      await store.tick([aTick('hourly', { revision: 3, nextAt: null })])
      assert.equal(await tells(), null)
    },
  },
  {
    name: 'schedules come by name, without the deleted ones',
    async run({ store }) {
      const names = ['b', 'a', 'B', 'c', 'a.b', 'a-b']
      await store.declareSchedules(names.map((name) => ({ name, version: 1, definition: aDefinition() })))
      await store.deleteSchedule('c')
      assert.deepEqual(
        (await store.schedules()).map(({ name }) => name),
        ['B', 'a', 'a-b', 'a.b', 'b'],
      )
    },
  },
  {
    name: 'declarations and creations at once from several handles make one schedule',
    async run({ store, another }) {
      const stores = [store, await another(), await another()]
      await Promise.all(stores.map((each) => declare(each, 1)))
      assert.deepEqual(
        (await store.schedules()).map(({ name, revision }) => [name, revision]),
        [['daily', 1]],
      )
      const made = await Promise.allSettled(
        stores.map((each, n) => each.createSchedule('other', aDefinition({ priority: n }))),
      )
      const [winner, ...more] = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      assert.equal(more.length, 0)
      assert.deepEqual((await store.schedules())[1]?.live, winner?.live)
    },
  },
  {
    name: 'changes at once from several handles are all kept',
    async run({ store, another }) {
      const stores = [store, await another(), await another()]
      await declare(store, 1)
      const patches = [{ priority: 5 }, { maxAttempts: 7 }, { tags: ['t'] }]
      await Promise.all(stores.map((each, n) => each.changeSchedule('daily', patches[n] ?? {})))
      const { operator, revision } = await daily(store)
      assert.deepEqual(operator, { priority: 5, maxAttempts: 7, tags: ['t'] })
      assert.equal(revision, 4)
    },
  },
  {
    name: 'a schedule that cannot be is refused, and nothing is written',
    async run({ store }) {
      const bad: readonly (readonly [Parameters<typeof rejectsWith>[0], object])[] = [
        ['NAME_INVALID', { when: '' }],
        ['NAME_INVALID', { kind: 'my kind' }],
        ['NAME_INVALID', { queue: '' }],
        ['NAME_INVALID', { zone: 'a\u0000b' }],
        ['NUMBER_INVALID', { jitterMs: -1 }],
        ['NUMBER_INVALID', { startAt: 0.5 }],
        ['NUMBER_INVALID', { maxAttempts: 0 }],
        ['NUMBER_INVALID', { priority: 40_000 }],
        ['OPTION_INVALID', { missed: 'some' }],
        ['OPTION_INVALID', { overlap: null }],
        ['OPTION_INVALID', { paused: 1 }],
        ['OPTION_INVALID', { tags: 'a' }],
        ['PAYLOAD_NOT_JSON', { payload: '{' }],
        ['OPTION_UNKNOWN', { payloads: 1 }],
      ]
      const fine = { name: 'fine', version: 1, definition: aDefinition() }
      for (const [code, wrong] of bad) {
        const definition = { ...aDefinition(), ...wrong } as ScheduleDefinition
        await rejectsWith(code, () => store.declareSchedules([fine, { ...fine, name: 'b', definition }]))
        await rejectsWith(code, () => store.createSchedule('c', definition))
        await rejectsWith(code, () => store.changeSchedule('d', wrong))
      }
      await rejectsWith('NAME_INVALID', () => store.declareSchedules([{ ...fine, name: 'my schedule' }]))
      await rejectsWith('NUMBER_INVALID', () => store.declareSchedules([{ ...fine, version: -1 }]))
      await rejectsWith('NAME_INVALID', () => store.createSchedule('', aDefinition()))
      assert.deepEqual(await store.schedules(), [])
    },
  },
]
