/** N1: an option of a limit or schedule has the value from code unless an operator overrode it. */
import assert from 'node:assert/strict'
import type { FullStore, LimitParts, LimitSettings, QueueSettings } from 'jobmill/store'
import { anAcquire } from '../../factories.ts'
import { only } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { apiLimit, declare, draw, TEN } from './limit-helpers.ts'
import { setQueue, pluck, rejectsWith } from '../looks.ts'
import { dailySchedule, declare as declareSchedule } from '../schedules/schedule-helpers.ts'

const release = (store: FullStore, settings: Partial<QueueSettings>): Promise<void> =>
  store.queues.declare([{ name: 'mail', settings }])

/** Checks the limit, and its overrides with their values. One that does not apply `waits`. */
async function isLimit(store: FullStore, settings: LimitSettings, ...overrides: string[]): Promise<void> {
  assert.deepEqual((await apiLimit(store)).settings, settings)
  const listed = await store.overrides.list()
  assert.deepEqual(
    listed.map(
      ({ option, value, isApplied }) => `${option}=${JSON.stringify(value)}${isApplied ? '' : ' waits'}`,
    ),
    overrides,
  )
}

/** A limit in code, the override of an operator, and the result. */
const LIMITS: readonly (readonly [LimitParts, LimitParts, LimitParts])[] = [
  [
    { type: 'rate', amount: 5 },
    { type: 'rate', amount: 7 },
    { type: 'rate', amount: 7, perMs: 1_000, burst: 7 },
  ],
  [
    { type: 'rate', amount: 5, perMs: 60_000 },
    { type: 'rate', perMs: 1_000 },
    { type: 'rate', amount: 5, perMs: 1_000, burst: 5 },
  ],
  [
    { type: 'rate', amount: 5, burst: 2 },
    { type: 'rate', burst: 9 },
    { type: 'rate', amount: 5, perMs: 1_000, burst: 9 },
  ],
  [
    { type: 'concurrency', most: 5 },
    { type: 'concurrency', most: 7 },
    { type: 'concurrency', most: 7 },
  ],
  [
    { type: 'rate', amount: 5 },
    { type: 'concurrency', most: 7 },
    { type: 'concurrency', most: 7 },
  ],
  [
    { type: 'concurrency', most: 5 },
    { type: 'rate', amount: 2 },
    { type: 'rate', amount: 2, perMs: 1_000, burst: 2 },
  ],
]

export const limitOverrideCases: readonly Case[] = [
  test('N1 every option of a limit follows the code, can be overridden alone, survives a release, and can be reset', async (t) => {
    const { store, another } = t
    for (const [at, [declared, override, counts]] of LIMITS.entries()) {
      const name = `limit-${at}`
      const settings = async (): Promise<unknown> =>
        (await (await another()).limits.list()).find((limit) => limit.name === name)?.settings
      await store.limits.declare([{ name, settings: { type: 'concurrency', most: 99 } }])
      await store.limits.declare([{ name, settings: declared }])
      const first = await settings()
      await store.limits.change(name, override, 'ci')
      assert.deepEqual(await settings(), counts)
      // A new release changes an option that is not overridden, if there is one.
      await store.limits.declare([{ name, settings: declared }])
      assert.deepEqual(await settings(), counts)
      const { type: _, ...named } = override
      const listed = (await store.overrides.list()).filter((one) => one.name === name)
      assert.deepEqual(
        pluck(listed, 'what', 'option', 'value', 'by'),
        Object.entries(named).map(([option, value]) => ['limit', option, value, 'ci']),
      )
      assert.deepEqual(await store.overrides.reset('limit', name, null), Object.keys(named))
      assert.deepEqual(await settings(), first)
    }
  }),
  test('N1 options of a limit that are not overridden follow the code, and a default burst follows the rate', async (t) => {
    const { store } = t
    await declare(store, { type: 'rate', amount: 5 })
    await store.limits.change('api', { type: 'rate', perMs: 500 }, 'ci')
    await declare(store, { type: 'rate', amount: 20, perMs: 60_000 })
    assert.deepEqual((await apiLimit(store)).settings, { type: 'rate', amount: 20, perMs: 500, burst: 40 })
    const [one] = await store.overrides.list()
    assert.deepEqual([one?.option, one?.value, one?.code, one?.isInCode], ['perMs', 500, 60_000, true])
  }),
  test('N1 an override of a limit stops applying when code changes the type, is listed so, and can be reset', async (t) => {
    const { store, another } = t
    const rate = { type: 'rate', amount: 10, perMs: 1_000, burst: 10 } as const
    const few = { type: 'concurrency', most: 3 } as const
    const reader = await another()
    await declare(store, few)
    await store.limits.change('api', { type: 'concurrency', most: 5 }, 'ops')
    await isLimit(reader, { ...few, most: 5 }, 'most=5')
    await declare(store, rate)
    await isLimit(reader, rate, 'most=5 waits')
    // The override applies again when code returns to the earlier type, for example after a rollback.
    await declare(store, few)
    await isLimit(reader, { ...few, most: 5 }, 'most=5')
    await declare(store, rate)
    assert.deepEqual(await store.overrides.reset('limit', 'api', null), ['most'])
    await isLimit(reader, rate)
    await store.limits.change('api', { type: 'rate', amount: 7, perMs: 500 }, 'ops')
    await declare(store, few)
    await isLimit(reader, few, 'amount=7 waits', 'perMs=500 waits')
  }),
  test('N1 an operator who sets a limit of another type than in code ends what did not apply', async (t) => {
    const { store } = t
    const few = { type: 'concurrency', most: 3 } as const
    await declare(store, { type: 'rate', amount: 10 })
    await store.limits.change('api', { type: 'rate', amount: 7, perMs: 500 }, 'ops')
    await declare(store, few)
    await rejectsWith('OPTION_INVALID', () => store.limits.change('api', { type: 'rate', burst: 2 }, 'ops'))
    await store.limits.change('api', { type: 'rate', amount: 7 }, 'ops')
    assert.deepEqual((await apiLimit(store)).settings, { type: 'rate', amount: 7, perMs: 1_000, burst: 7 })
    assert.deepEqual(pluck(await store.overrides.list(), 'option', 'isApplied'), [['amount', true]])
    // Neither a release with the same type nor one with the chosen type changes the choice of the operator.
    await declare(store, { ...few, most: 4 })
    assert.equal((await apiLimit(store)).settings.type, 'rate')
    await declare(store, { type: 'rate', amount: 10 })
    assert.deepEqual((await apiLimit(store)).settings, { type: 'rate', amount: 7, perMs: 1_000, burst: 7 })
  }),
  test('N1 an override that waits for a rollback survives a change of the limit by an operator', async (t) => {
    const { store } = t
    const rate = { type: 'rate', amount: 10, perMs: 1_000 } as const
    const few = { type: 'concurrency', most: 5 } as const
    await declare(store, few)
    await store.limits.change('api', { ...few, most: 3 }, 'ops')
    await declare(store, rate)
    await store.limits.change('api', { ...rate, amount: 20 }, 'ops')
    await isLimit(store, { ...rate, amount: 20, burst: 20 }, 'amount=20', 'most=3 waits', 'perMs=1000')
    await declare(store, few)
    await isLimit(store, { ...few, most: 3 }, 'amount=20 waits', 'most=3', 'perMs=1000 waits')
    // The same for the overrides of a rate.
    await store.limits.change('api', { ...few, most: 4 }, 'ops')
    await declare(store, rate)
    assert.deepEqual((await apiLimit(store)).settings, { ...rate, amount: 20, burst: 20 })
    // An operator who chooses another type than in code replaces what applied.
    await store.limits.change('api', { ...few, most: 4 }, 'ops')
    await isLimit(store, { ...few, most: 4 }, 'most=4')
  }),
  test('N1 P13 a rate changed by a release applies from now on; an unchanged release keeps budgets and places', async (t) => {
    const { store, clock } = t
    await declare(store, { type: 'rate', amount: 1, burst: 4 })
    await draw(store, { amount: 4 })
    const first = anAcquire('api', { waitUpToMs: 1 })
    assert.equal((await store.limits.acquire([first]))[0]?.outcome, 'later')
    const before = await apiLimit(store)
    await declare(store, { type: 'rate', amount: 1, burst: 4 })
    assert.deepEqual(await apiLimit(store), before)
    await declare(store, { type: 'rate', amount: 10, burst: 4 })
    assert.deepEqual([(await apiLimit(store)).available, (await apiLimit(store)).nextInMs], [0, 100])
    clock.advance(200)
    assert.equal((await apiLimit(store)).available, 2)
  }),
  test('N1 P13 perKey of a limit follows the code, unless a queue uses the limit', async ({ store }) => {
    await declare(store)
    await draw(store, { amount: 2 })
    await declare(store, { ...TEN, perKey: true })
    assert.deepEqual((await draw(store, { key: 'a' })).outcome, 'granted')
    assert.equal((await apiLimit(store)).keys, 1)
    await declare(store)
    assert.deepEqual([(await apiLimit(store)).keys, (await draw(store)).outcome], [null, 'granted'])
    await release(store, { limit: 'api' })
    await rejectsWith('OPTION_CONFLICT', () =>
      store.limits.declare([
        { name: 'another', settings: TEN },
        { name: 'api', settings: { ...TEN, perKey: true } },
      ]),
    )
    assert.deepEqual(pluck(await store.limits.list(), 'name', 'settings'), [['api', TEN]])
  }),
  test('N1 a limit created at run time keeps the operator’s values, and a later declaration in code comes second', async (t) => {
    const { store } = t
    const made = await store.limits.create('api', { type: 'rate', amount: 5 }, 'ops')
    assert.deepEqual(made.settings, { type: 'rate', amount: 5, perMs: 1_000, burst: 5 })
    assert.deepEqual(await store.limits.create('api', { type: 'rate', amount: 5, perMs: 1_000 }), made)
    await rejectsWith('OPTION_CONFLICT', () => store.limits.create('api', { type: 'rate', amount: 6 }))
    assert.deepEqual(await store.overrides.list(), [])
    await rejectsWith('OPTION_CONFLICT', () => store.overrides.reset('limit', 'api', null))
    await declare(store, { type: 'rate', amount: 9, perMs: 60_000 })
    assert.deepEqual((await apiLimit(store)).settings, { type: 'rate', amount: 5, perMs: 60_000, burst: 1 })
    assert.deepEqual(pluck(await store.overrides.list(), 'option', 'by'), [['amount', 'ops']])
    // The overrides do not apply to a limit of another type.
    await declare(store, { type: 'concurrency', most: 2 })
    assert.deepEqual((await apiLimit(store)).settings, { type: 'concurrency', most: 2 })
    await declare(store, { type: 'rate', amount: 9, perMs: 60_000 })
    await store.overrides.reset('limit', 'api', ['amount'])
    assert.deepEqual((await apiLimit(store)).settings, { type: 'rate', amount: 9, perMs: 60_000, burst: 1 })
  }),
  {
    name: 'N1 overrides of a schedule are listed with author and time, and reset one by one or all at once',
    needs: ['schedules'],
    async run({ store, clock }) {
      await declareSchedule(store, 1)
      const at = clock.now()
      await store.schedules.change('daily', { priority: 4, paused: true, tags: ['x'] }, 'ops')
      clock.advance(5)
      await declareSchedule(store, 2, { priority: 1, maxAttempts: 9 })
      const { live, code: inCode } = await dailySchedule(store)
      assert.deepEqual([live.priority, live.paused, live.maxAttempts], [4, true, 9])
      const one = { what: 'schedule', name: 'daily', by: 'ops', at, isInCode: true, isApplied: true }
      assert.deepEqual(await store.overrides.list(), [
        { ...one, option: 'paused', value: true, code: false },
        { ...one, option: 'priority', value: 4, code: 1 },
        { ...one, option: 'tags', value: ['x'], code: inCode?.tags },
      ])
      assert.deepEqual(await store.overrides.reset('schedule', 'daily', ['priority']), ['priority'])
      assert.equal((await dailySchedule(store)).live.priority, 1)
      await store.schedules.change('daily', { paused: false })
      assert.deepEqual(pluck(await store.overrides.list(), 'option'), ['tags'])
      assert.deepEqual(await store.overrides.reset('schedule', 'daily', null), ['tags'])
      assert.deepEqual((await dailySchedule(store)).live, (await dailySchedule(store)).code)
    },
  },
  {
    name: 'N1 a reset of something missing or created at run time is refused',
    needs: ['schedules'],
    async run({ store }) {
      await rejectsWith('QUEUE_UNKNOWN', () => store.overrides.reset('queue', 'nope', null))
      await rejectsWith('LIMIT_UNKNOWN', () => store.overrides.reset('limit', 'nope', null))
      await rejectsWith('SCHEDULE_UNKNOWN', () => store.overrides.reset('schedule', 'nope', null))
      await declareSchedule(store, 1)
      await store.schedules.create('mine', (await dailySchedule(store)).live, 'ops')
      await rejectsWith('OPTION_CONFLICT', () => store.overrides.reset('schedule', 'mine', null))
      // Code names a limit that was not needed while the override applied.
      await declare(store)
      await store.limits.declare([{ name: 'other', settings: TEN }])
      await release(store, { limit: 'api' })
      await setQueue(store, 'mail', { limit: 'other' })
      await store.limits.delete('api')
      await rejectsWith('LIMIT_UNKNOWN', () => store.overrides.reset('queue', 'mail', null))
      assert.equal(only(await store.queues.list()).limit, 'other')
    },
  },
]
