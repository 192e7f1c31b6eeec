/** N1: an option counts as code declares it unless an operator overrode it. Of queues, limits and schedules, option by option. */
import assert from 'node:assert/strict'
import type { LimitParts } from '../../job/limit.ts'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../job/queue-settings.ts'
import type { QueueRecord } from '../../store/queue-record.ts'
import type { Store } from '../../store/store.ts'
import { aTake } from '../factories.ts'
import type { Case } from './case.ts'
import { api, declare, draw, settingsVersion, TEN } from './limit-words.ts'
import { rejectsWith } from './looks.ts'
import { daily, declare as declareSchedule } from './schedule-words.ts'

/** Every option of a queue in two releases of the code, and as an operator wants it. */
const OPTIONS: {
  readonly [Key in keyof QueueSettings]: readonly [QueueSettings[Key], QueueSettings[Key], QueueSettings[Key]]
} = {
  workers: [4, 5, 8],
  paused: [true, false, true],
  backoffEnabled: [false, true, false],
  backoffBaseMs: [1, 2, 3],
  backoffMaxMs: [100, 200, 300],
  retainDoneMs: [4, 5, null],
  retainCancelledMs: [5, 6, 7],
  retainDeadMs: [6, 7, null],
  keepDone: [7, 8, 0],
  keepCancelled: [8, 9, null],
  keepDead: [9, 10, 11],
  limit: ['one', 'two', 'three'],
}
const KEYS = Object.keys(OPTIONS) as (keyof QueueSettings)[]
const NAMED_LIMITS = ['one', 'two', 'three'].map((name) => ({ name, settings: TEN }))

const code = (release: 0 | 1 | 2): Partial<QueueSettings> =>
  Object.fromEntries(KEYS.map((key) => [key, OPTIONS[key][release]]))

async function mail(store: Store): Promise<QueueRecord> {
  const found = (await store.queues()).find(({ name }) => name === 'mail')
  assert.ok(found, 'there is no queue mail')
  return found
}

const release = (store: Store, settings: Partial<QueueSettings> | null): Promise<void> =>
  store.declareQueues([{ name: 'mail', settings }])

/** Code of a limit, what an operator makes of it, and what counts then. */
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

export const overrideCases: readonly Case[] = [
  {
    name: 'N1 every option of a queue follows each release of the code, and one that code no longer names is at its default',
    async run({ store, another }) {
      await store.declareLimits(NAMED_LIMITS)
      for (const settings of [code(0), code(1), { workers: 3 }, {}]) {
        await (await another()).declareQueues([{ name: 'mail', settings }])
        const { name: _, coolingMs: __, throttles: ___, ...counts } = await mail(store)
        assert.deepEqual(counts, { ...DEFAULT_QUEUE_SETTINGS, ...settings })
      }
    },
  },
  {
    name: 'N1 a process that does not declare a queue leaves what another one declared of it',
    async run({ store, enqueue }) {
      await enqueue({ queue: 'mail' })
      await release(store, { workers: 4 })
      await release(store, null)
      assert.equal((await mail(store)).workers, 4)
      await store.declareQueues([{ name: 'new', settings: null }])
      assert.deepEqual(await store.overrides(), [])
    },
  },
  {
    name: 'N1 an override of each option of a queue survives every release; the others follow the code, and a reset ends it',
    async run({ store, clock }) {
      await store.declareLimits(NAMED_LIMITS)
      for (const key of KEYS) {
        await release(store, code(1))
        const at = clock.now()
        const changed = await store.changeQueue(
          'mail',
          { settings: { [key]: OPTIONS[key][2] }, coolMs: null },
          'ci',
        )
        assert.equal(changed[key], OPTIONS[key][2])
        clock.advance(1_000)
        await release(store, { ...code(0), paused: false })
        const expected = { ...code(0), paused: false, [key]: OPTIONS[key][2] }
        const { name: _, coolingMs: __, throttles: ___, ...counts } = await mail(store)
        assert.deepEqual(counts, expected)
        const override = { what: 'queue', name: 'mail', option: key, value: OPTIONS[key][2], by: 'ci', at }
        const said = key === 'paused' ? false : OPTIONS[key][0]
        assert.deepEqual(await store.overrides(), [{ ...override, code: said, isInCode: true }])
        assert.deepEqual(await store.resetOverrides('queue', 'mail', [key]), [key])
        assert.equal((await mail(store))[key], said)
        assert.deepEqual(await store.overrides(), [])
      }
    },
  },
  {
    name: 'N1 options of a queue are overridden and reset one by one, or all at once, whoever else changes another one',
    async run({ store, another }) {
      await release(store, { workers: 4, retainDoneMs: 5 })
      const other = await another()
      await Promise.all([
        store.changeQueue('mail', { settings: { workers: 8 }, coolMs: null }, 'a'),
        other.changeQueue('mail', { settings: { retainDoneMs: 6, keepDone: 3 }, coolMs: null }, 'b'),
      ])
      assert.deepEqual(
        (await other.overrides()).map(({ option, value, by, code: said, isInCode }) => [
          option,
          value,
          by,
          said,
          isInCode,
        ]),
        [
          ['keepDone', 3, 'b', null, false],
          ['retainDoneMs', 6, 'b', 5, true],
          ['workers', 8, 'a', 4, true],
        ],
      )
      assert.deepEqual(await store.resetOverrides('queue', 'mail', ['workers', 'paused']), ['workers'])
      assert.deepEqual(await store.resetOverrides('queue', 'mail', ['workers']), [])
      assert.deepEqual(await store.resetOverrides('queue', 'mail', null), ['keepDone', 'retainDoneMs'])
      const { workers, retainDoneMs, keepDone } = await mail(store)
      assert.deepEqual([workers, retainDoneMs, keepDone], [4, 5, null])
    },
  },
  {
    name: 'N1 of an old and a new release side by side the one that declared last counts, and overrides stay',
    async run({ store, another }) {
      const old = await another()
      await release(old, { workers: 2, keepDone: 1 })
      await release(store, { workers: 3, keepDone: 2 })
      await store.changeQueue('mail', { settings: { keepDone: 9 }, coolMs: null })
      assert.deepEqual([(await mail(old)).workers, (await mail(old)).keepDone], [3, 9])
      await release(old, { workers: 2, keepDone: 1 })
      assert.deepEqual([(await mail(store)).workers, (await mail(store)).keepDone], [2, 9])
    },
  },
  {
    name: 'N1 P7 a deploy does not resume a paused queue; a resume leaves no override behind',
    async run({ store }) {
      await release(store, {})
      await store.changeQueue('mail', { settings: { paused: true }, coolMs: null }, 'ops')
      await release(store, { paused: false })
      assert.equal((await mail(store)).paused, true)
      await store.changeQueue('mail', { settings: { paused: false }, coolMs: null }, 'ops')
      assert.deepEqual([(await mail(store)).paused, await store.overrides()], [false, []])
      // Where code pauses it, it is the resume that has to last.
      await release(store, { paused: true })
      await store.changeQueue('mail', { settings: { paused: false }, coolMs: null }, 'ops')
      await release(store, { paused: true })
      assert.equal((await mail(store)).paused, false)
    },
  },
  {
    name: 'N1 a queue that code does not declare has overrides on top of the defaults',
    async run({ store, enqueue }) {
      await enqueue({ queue: 'mail' })
      await store.changeQueue('mail', { settings: { workers: 8 }, coolMs: null }, 'ops')
      assert.deepEqual(
        (await store.overrides()).map(({ option, code: said, isInCode }) => [option, said, isInCode]),
        [['workers', null, false]],
      )
      await release(store, null)
      assert.equal((await mail(store)).workers, 8)
      await store.resetOverrides('queue', 'mail', null)
      assert.equal((await mail(store)).workers, null)
      await release(store, { workers: 2 })
      assert.equal((await mail(store)).workers, 2)
    },
  },
  {
    name: 'N1 the version of the settings tells of what counts otherwise, and of nothing else',
    async run({ store }) {
      await release(store, { workers: 4 })
      await declare(store)
      const before = await settingsVersion(store)
      await release(store, { workers: 4 })
      await release(store, { workers: 4, paused: false })
      await declare(store)
      await declare(store, { type: 'rate', amount: TEN.amount, burst: TEN.burst })
      assert.equal(await settingsVersion(store), before)
      await release(store, { workers: 5 })
      const after = await settingsVersion(store)
      assert.notEqual(after, before)
      await declare(store, { ...TEN, amount: 11 })
      assert.notEqual(await settingsVersion(store), after)
    },
  },
  {
    name: 'N1 every option of a limit follows the code, is overridden alone, survives a release, and is reset',
    async run({ store, another }) {
      for (const [at, [said, override, counts]] of LIMITS.entries()) {
        const name = `limit-${at}`
        const settings = async (): Promise<unknown> =>
          (await (await another()).limits()).find((limit) => limit.name === name)?.settings
        await store.declareLimits([{ name, settings: { type: 'concurrency', most: 99 } }])
        await store.declareLimits([{ name, settings: said }])
        const first = await settings()
        await store.changeLimit(name, override, 'ci')
        assert.deepEqual(await settings(), counts)
        // A release that says something else of what is not overridden, where there is such a thing.
        await store.declareLimits([{ name, settings: said }])
        assert.deepEqual(await settings(), counts)
        const { type: _, ...named } = override
        const listed = (await store.overrides()).filter((one) => one.name === name)
        assert.deepEqual(
          listed.map(({ what, option, value, by }) => [what, option, value, by]),
          Object.entries(named).map(([option, value]) => ['limit', option, value, 'ci']),
        )
        assert.deepEqual(await store.resetOverrides('limit', name, null), Object.keys(named))
        assert.deepEqual(await settings(), first)
      }
    },
  },
  {
    name: 'N1 what is not overridden of a limit follows the code, and a burst that nobody named follows the rate',
    async run({ store }) {
      await declare(store, { type: 'rate', amount: 5 })
      await store.changeLimit('api', { type: 'rate', perMs: 500 }, 'ci')
      await declare(store, { type: 'rate', amount: 20, perMs: 60_000 })
      assert.deepEqual((await api(store)).settings, { type: 'rate', amount: 20, perMs: 500, burst: 40 })
      const [one] = await store.overrides()
      assert.deepEqual([one?.option, one?.value, one?.code, one?.isInCode], ['perMs', 500, 60_000, true])
    },
  },
  {
    name: 'N1 P13 a rate that a release changes counts from now on; a release that says the same keeps budgets and places',
    async run({ store, clock }) {
      await declare(store, { type: 'rate', amount: 1, burst: 4 })
      await draw(store, { amount: 4 })
      const first = aTake('api', { waitUpToMs: 1 })
      assert.equal((await store.take([first]))[0]?.outcome, 'later')
      const before = await api(store)
      await declare(store, { type: 'rate', amount: 1, burst: 4 })
      assert.deepEqual(await api(store), before)
      await declare(store, { type: 'rate', amount: 10, burst: 4 })
      assert.deepEqual([(await api(store)).available, (await api(store)).nextInMs], [0, 100])
      clock.advance(200)
      assert.equal((await api(store)).available, 2)
    },
  },
  {
    name: 'N1 P13 whether a limit counts for each key by itself follows the code, unless a queue draws on it',
    async run({ store }) {
      await declare(store)
      await draw(store, { amount: 2 })
      await declare(store, { ...TEN, perKey: true })
      assert.deepEqual((await draw(store, { key: 'a' })).outcome, 'granted')
      assert.equal((await api(store)).keys, 1)
      await declare(store)
      assert.deepEqual([(await api(store)).keys, (await draw(store)).outcome], [null, 'granted'])
      await release(store, { limit: 'api' })
      await rejectsWith('OPTION_CONFLICT', () =>
        store.declareLimits([
          { name: 'another', settings: TEN },
          { name: 'api', settings: { ...TEN, perKey: true } },
        ]),
      )
      assert.deepEqual(
        (await store.limits()).map(({ name, settings }) => [name, settings]),
        [['api', TEN]],
      )
    },
  },
  {
    name: 'N1 a limit that was created at run time is as the operator made it, and code that declares it later comes second',
    async run({ store }) {
      const made = await store.createLimit('api', { type: 'rate', amount: 5 }, 'ops')
      assert.deepEqual(made.settings, { type: 'rate', amount: 5, perMs: 1_000, burst: 5 })
      assert.deepEqual(await store.createLimit('api', { type: 'rate', amount: 5, perMs: 1_000 }), made)
      await rejectsWith('OPTION_CONFLICT', () => store.createLimit('api', { type: 'rate', amount: 6 }))
      assert.deepEqual(await store.overrides(), [])
      await rejectsWith('OPTION_CONFLICT', () => store.resetOverrides('limit', 'api', null))
      await declare(store, { type: 'rate', amount: 9, perMs: 60_000 })
      assert.deepEqual((await api(store)).settings, { type: 'rate', amount: 5, perMs: 60_000, burst: 1 })
      assert.deepEqual(
        (await store.overrides()).map(({ option, by }) => [option, by]),
        [['amount', 'ops']],
      )
      await store.resetOverrides('limit', 'api', ['amount'])
      assert.deepEqual((await api(store)).settings, { type: 'rate', amount: 9, perMs: 60_000, burst: 1 })
    },
  },
  {
    name: 'N1 overrides of a schedule are listed with who and when, and reset one by one or all at once',
    async run({ store, clock }) {
      await declareSchedule(store, 1)
      const at = clock.now()
      await store.changeSchedule('daily', { priority: 4, paused: true, tags: ['x'] }, 'ops')
      clock.advance(5)
      await declareSchedule(store, 2, { priority: 1, maxAttempts: 9 })
      const { live, code: said } = await daily(store)
      assert.deepEqual([live.priority, live.paused, live.maxAttempts], [4, true, 9])
      const one = { what: 'schedule', name: 'daily', by: 'ops', at, isInCode: true }
      assert.deepEqual(await store.overrides(), [
        { ...one, option: 'paused', value: true, code: false },
        { ...one, option: 'priority', value: 4, code: 1 },
        { ...one, option: 'tags', value: ['x'], code: said?.tags },
      ])
      assert.deepEqual(await store.resetOverrides('schedule', 'daily', ['priority']), ['priority'])
      assert.equal((await daily(store)).live.priority, 1)
      await store.changeSchedule('daily', { paused: false })
      assert.deepEqual(
        (await store.overrides()).map(({ option }) => option),
        ['tags'],
      )
      assert.deepEqual(await store.resetOverrides('schedule', 'daily', null), ['tags'])
      assert.deepEqual((await daily(store)).live, (await daily(store)).code)
    },
  },
  {
    name: 'N1 a reset of what is not there, or was created at run time, is refused',
    async run({ store }) {
      await rejectsWith('QUEUE_UNKNOWN', () => store.resetOverrides('queue', 'nope', null))
      await rejectsWith('LIMIT_UNKNOWN', () => store.resetOverrides('limit', 'nope', null))
      await rejectsWith('SCHEDULE_UNKNOWN', () => store.resetOverrides('schedule', 'nope', null))
      await declareSchedule(store, 1)
      await store.createSchedule('mine', (await daily(store)).live, 'ops')
      await rejectsWith('OPTION_CONFLICT', () => store.resetOverrides('schedule', 'mine', null))
      // Code named a limit that nobody needed while the override was there.
      await declare(store)
      await store.declareLimits([{ name: 'other', settings: TEN }])
      await release(store, { limit: 'api' })
      await store.changeQueue('mail', { settings: { limit: 'other' }, coolMs: null })
      await store.deleteLimit('api')
      await rejectsWith('LIMIT_UNKNOWN', () => store.resetOverrides('queue', 'mail', null))
      assert.equal((await mail(store)).limit, 'other')
    },
  },
]
