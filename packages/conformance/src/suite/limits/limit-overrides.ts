/** N1: an option of a limit or schedule has the value from code unless an operator overrode it. */
import assert from 'node:assert/strict'
import type { FullStore, LimitParts, LimitSettings, QueueSettings } from 'jobmill/store'
import { only } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck, rejectsWith } from '../looks.ts'
import { dailySchedule, declare as declareSchedule } from '../schedules/schedule-helpers.ts'
import {
  acquireOutcome,
  apiLimit,
  declare,
  draw,
  EACH,
  patientRequest,
  permits,
  rate,
  TEN,
} from './limit-helpers.ts'

const release = (store: FullStore, settings: Partial<QueueSettings>): Promise<void> =>
  store.queues.declare([{ name: 'mail', settings }])

/** Checks the limit, and its overrides with their values. One that does not apply `waits`. */
async function isLimit(store: FullStore, settings: LimitSettings, ...overrides: string[]): Promise<void> {
  assert.deepEqual((await apiLimit(store)).settings, settings)
  const listed = (await store.overrides.list()).map(
    ({ option, value, isApplied }) => `${option}=${JSON.stringify(value)}${isApplied ? '' : ' waits'}`,
  )
  assert.deepEqual(listed, overrides)
}

/** A limit in code, the override of an operator, and the result. */
const LIMITS: readonly (readonly [LimitParts, LimitParts, LimitParts])[] = [
  [rate({ amount: 5 }), rate({ amount: 7 }), rate({ amount: 7, perMs: 1_000, burst: 7 })],
  [rate({ amount: 5, perMs: 60_000 }), rate({ perMs: 1_000 }), rate({ amount: 5, perMs: 1_000, burst: 5 })],
  [rate({ amount: 5, burst: 2 }), rate({ burst: 9 }), rate({ amount: 5, perMs: 1_000, burst: 9 })],
  [permits(5), permits(7), permits(7)],
  [rate({ amount: 5 }), permits(7), permits(7)],
  [permits(5), rate({ amount: 2 }), rate({ amount: 2, perMs: 1_000, burst: 2 })],
]

export const limitOverrideCases: readonly Case[] = [
  test('N1 every option of a limit follows the code, can be overridden alone, survives a release, and can be reset', async (t) => {
    for (const [at, [declared, override, counts]] of LIMITS.entries()) {
      const name = `limit-${at}`
      const settings = async (): Promise<unknown> =>
        (await (await t.another()).limits.list()).find((limit) => limit.name === name)?.settings
      await declare(t.store, permits(99), name)
      await declare(t.store, declared, name)
      const first = await settings()
      await t.store.limits.change(name, override, 'ci')
      assert.deepEqual(await settings(), counts)
      // A new release changes an option that is not overridden, if there is one.
      await declare(t.store, declared, name)
      assert.deepEqual(await settings(), counts)
      const { type: _, ...named } = override
      const listed = (await t.store.overrides.list()).filter((one) => one.name === name)
      assert.deepEqual(
        pluck(listed, 'what', 'option', 'value', 'by'),
        Object.entries(named).map(([option, value]) => ['limit', option, value, 'ci']),
      )
      assert.deepEqual(await t.store.overrides.reset('limit', name, null), Object.keys(named))
      assert.deepEqual(await settings(), first)
    }
  }),
  test('N1 options of a limit that are not overridden follow the code, and a default burst follows the rate', async (t) => {
    await declare(t.store, rate({ amount: 5 }))
    await t.store.limits.change('api', rate({ perMs: 500 }), 'ci')
    await declare(t.store, rate({ amount: 20, perMs: 60_000 }))
    assert.deepEqual((await apiLimit(t.store)).settings, rate({ amount: 20, perMs: 500, burst: 40 }))
    const [one] = await t.store.overrides.list()
    assert.deepEqual([one?.option, one?.value, one?.code, one?.isInCode], ['perMs', 500, 60_000, true])
  }),
  test('N1 an override of a limit stops applying when code changes the type, is listed so, and can be reset', async (t) => {
    const ten = rate({ amount: 10, perMs: 1_000, burst: 10 })
    const few = permits(3)
    const reader = await t.another()
    await declare(t.store, few)
    await t.store.limits.change('api', permits(5), 'ops')
    await isLimit(reader, permits(5), 'most=5')
    await declare(t.store, ten)
    await isLimit(reader, ten, 'most=5 waits')
    // The override applies again when code returns to the earlier type, for example after a rollback.
    await declare(t.store, few)
    await isLimit(reader, permits(5), 'most=5')
    await declare(t.store, ten)
    assert.deepEqual(await t.store.overrides.reset('limit', 'api', null), ['most'])
    await isLimit(reader, ten)
    await t.store.limits.change('api', rate({ amount: 7, perMs: 500 }), 'ops')
    await declare(t.store, few)
    await isLimit(reader, few, 'amount=7 waits', 'perMs=500 waits')
  }),
  test('N1 an operator who sets a limit of another type than in code ends what did not apply', async (t) => {
    const few = permits(3)
    await declare(t.store, rate({ amount: 10 }))
    await t.store.limits.change('api', rate({ amount: 7, perMs: 500 }), 'ops')
    await declare(t.store, few)
    await rejectsWith('OPTION_INVALID', () => t.store.limits.change('api', rate({ burst: 2 }), 'ops'))
    await t.store.limits.change('api', rate({ amount: 7 }), 'ops')
    assert.deepEqual((await apiLimit(t.store)).settings, rate({ amount: 7, perMs: 1_000, burst: 7 }))
    assert.deepEqual(pluck(await t.store.overrides.list(), 'option', 'isApplied'), [['amount', true]])
    // Neither a release with the same type nor one with the chosen type changes the choice of the operator.
    await declare(t.store, permits(4))
    assert.equal((await apiLimit(t.store)).settings.type, 'rate')
    await declare(t.store, rate({ amount: 10 }))
    assert.deepEqual((await apiLimit(t.store)).settings, rate({ amount: 7, perMs: 1_000, burst: 7 }))
  }),
  test('N1 an override that waits for a rollback survives a change of the limit by an operator', async (t) => {
    const ten = rate({ amount: 10, perMs: 1_000 })
    await declare(t.store, permits(5))
    await t.store.limits.change('api', permits(3), 'ops')
    await declare(t.store, ten)
    await t.store.limits.change('api', { ...ten, amount: 20 }, 'ops')
    await isLimit(t.store, { ...ten, amount: 20, burst: 20 }, 'amount=20', 'most=3 waits', 'perMs=1000')
    await declare(t.store, permits(5))
    await isLimit(t.store, permits(3), 'amount=20 waits', 'most=3', 'perMs=1000 waits')
    // The same for the overrides of a rate.
    await t.store.limits.change('api', permits(4), 'ops')
    await declare(t.store, ten)
    assert.deepEqual((await apiLimit(t.store)).settings, { ...ten, amount: 20, burst: 20 })
    // When an operator chooses another type than in code, the new settings replace all that applied.
    await t.store.limits.change('api', permits(4), 'ops')
    await isLimit(t.store, permits(4), 'most=4')
  }),
  test('N1 P13 a rate changed by a release applies from now on; an unchanged release keeps budgets and places', async (t) => {
    await declare(t.store, rate({ amount: 1, burst: 4 }))
    await draw(t.store, { amount: 4 })
    assert.equal(await acquireOutcome(t.store, patientRequest()), 'later')
    const before = await apiLimit(t.store)
    await declare(t.store, rate({ amount: 1, burst: 4 }))
    assert.deepEqual(await apiLimit(t.store), before)
    await declare(t.store, rate({ amount: 10, burst: 4 }))
    hasFields(await apiLimit(t.store), { available: 0, nextInMs: 100 })
    t.clock.advance(200)
    assert.equal((await apiLimit(t.store)).available, 2)
  }),
  test('N1 P13 perKey of a limit follows the code, unless a queue uses the limit', async (t) => {
    await declare(t.store)
    await draw(t.store, { amount: 2 })
    await declare(t.store, EACH)
    assert.deepEqual((await draw(t.store, { key: 'a' })).outcome, 'granted')
    assert.equal((await apiLimit(t.store)).keys, 1)
    await declare(t.store)
    assert.deepEqual([(await apiLimit(t.store)).keys, (await draw(t.store)).outcome], [null, 'granted'])
    await release(t.store, { limit: 'api' })
    await rejectsWith('OPTION_CONFLICT', () =>
      t.store.limits.declare([
        { name: 'another', settings: TEN },
        { name: 'api', settings: EACH },
      ]),
    )
    assert.deepEqual(pluck(await t.store.limits.list(), 'name', 'settings'), [['api', TEN]])
  }),
  test('N1 a limit created at run time keeps the operator’s values, and a later declaration in code comes second', async (t) => {
    const made = await t.store.limits.create('api', rate({ amount: 5 }), 'ops')
    assert.deepEqual(made.settings, rate({ amount: 5, perMs: 1_000, burst: 5 }))
    assert.deepEqual(await t.store.limits.create('api', rate({ amount: 5, perMs: 1_000 })), made)
    await rejectsWith('OPTION_CONFLICT', () => t.store.limits.create('api', rate({ amount: 6 })))
    assert.deepEqual(await t.store.overrides.list(), [])
    await rejectsWith('OPTION_CONFLICT', () => t.store.overrides.reset('limit', 'api', null))
    await declare(t.store, rate({ amount: 9, perMs: 60_000 }))
    assert.deepEqual((await apiLimit(t.store)).settings, rate({ amount: 5, perMs: 60_000, burst: 1 }))
    assert.deepEqual(pluck(await t.store.overrides.list(), 'option', 'by'), [['amount', 'ops']])
    // The overrides do not apply to a limit of another type.
    await declare(t.store, permits(2))
    assert.deepEqual((await apiLimit(t.store)).settings, permits(2))
    await declare(t.store, rate({ amount: 9, perMs: 60_000 }))
    await t.store.overrides.reset('limit', 'api', ['amount'])
    assert.deepEqual((await apiLimit(t.store)).settings, rate({ amount: 9, perMs: 60_000, burst: 1 }))
  }),
  {
    name: 'N1 overrides of a schedule are listed with author and time, and reset one by one or all at once',
    needs: ['schedules'],
    async run(t) {
      await declareSchedule(t.store, 1)
      const at = t.clock.now()
      await t.store.schedules.change('daily', { priority: 4, paused: true, tags: ['x'] }, 'ops')
      t.clock.advance(5)
      await declareSchedule(t.store, 2, { priority: 1, maxAttempts: 9 })
      const { live, code: inCode } = await dailySchedule(t.store)
      assert.deepEqual([live.priority, live.paused, live.maxAttempts], [4, true, 9])
      const one = { what: 'schedule', name: 'daily', by: 'ops', at, isInCode: true, isApplied: true }
      assert.deepEqual(await t.store.overrides.list(), [
        { ...one, option: 'paused', value: true, code: false },
        { ...one, option: 'priority', value: 4, code: 1 },
        { ...one, option: 'tags', value: ['x'], code: inCode?.tags },
      ])
      assert.deepEqual(await t.store.overrides.reset('schedule', 'daily', ['priority']), ['priority'])
      assert.equal((await dailySchedule(t.store)).live.priority, 1)
      await t.store.schedules.change('daily', { paused: false })
      assert.deepEqual(pluck(await t.store.overrides.list(), 'option'), ['tags'])
      assert.deepEqual(await t.store.overrides.reset('schedule', 'daily', null), ['tags'])
      assert.deepEqual((await dailySchedule(t.store)).live, (await dailySchedule(t.store)).code)
    },
  },
  {
    name: 'N1 a reset of something missing or created at run time is refused',
    needs: ['schedules'],
    async run(t) {
      await rejectsWith('QUEUE_UNKNOWN', () => t.store.overrides.reset('queue', 'nope', null))
      await rejectsWith('LIMIT_UNKNOWN', () => t.store.overrides.reset('limit', 'nope', null))
      await rejectsWith('SCHEDULE_UNKNOWN', () => t.store.overrides.reset('schedule', 'nope', null))
      await declareSchedule(t.store, 1)
      await t.store.schedules.create('mine', (await dailySchedule(t.store)).live, 'ops')
      await rejectsWith('OPTION_CONFLICT', () => t.store.overrides.reset('schedule', 'mine', null))
      // The limit from code cannot be deleted while an override hides it, because a reset restores it.
      await declare(t.store)
      await declare(t.store, TEN, 'other')
      await release(t.store, { limit: 'api' })
      await t.setQueue('mail', { limit: 'other' })
      await rejectsWith('LIMIT_IN_USE', () => t.store.limits.delete('api'))
      await t.store.overrides.reset('queue', 'mail', null)
      assert.equal(only(await t.store.queues.list()).limit, 'api')
    },
  },
]
