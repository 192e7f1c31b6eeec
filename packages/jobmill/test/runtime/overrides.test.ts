/** N1: an option in code counts unless an operator overrode it. Runs on both stores. */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import type { Mill } from '../../src/index.ts'
import { declare } from '../../src/runtime/declare.ts'
import { resolveOptions } from '../../src/runtime/options/options.ts'
import { rejection } from '../unit/support.ts'
import { type Code, deploy, quick } from './deploy.ts'
import { subjects } from './stores.ts'

const smtpOf = async (mill: Mill): Promise<unknown> =>
  (await mill.limits.list()).find(({ name }) => name === 'smtp')?.settings

/**
 * For every option of a queue and of a limit: its value in one release and in the next, and the field that
 * shows it.
 */
const CHANGES: readonly (readonly [Code, Code, (mill: Mill) => Promise<unknown>, unknown])[] = [
  ...(
    [
      [{ workers: 1 }, { workers: 4 }, 'workers', 4],
      [{ workers: 1 }, {}, 'workers', null],
      [{ paused: true }, { paused: false }, 'paused', false],
      [{ backoff: { enabled: false } }, { backoff: { enabled: true } }, 'backoffEnabled', true],
      [{ backoff: { base: '1s' } }, { backoff: { base: '3s' } }, 'backoffBaseMs', 3_000],
      [{ backoff: { max: '1m' } }, { backoff: { max: '3m' } }, 'backoffMaxMs', 180_000],
      [{ retain: { done: '1d' } }, { retain: { done: 'forever' } }, 'retainDoneMs', null],
      [{ retain: { cancelled: '1d' } }, { retain: { cancelled: '1s' } }, 'retainCancelledMs', 1_000],
      [{ retain: { dead: '1d' } }, { retain: { dead: '1s' } }, 'retainDeadMs', 1_000],
      [{ retain: { done: { most: 1 } } }, { retain: { done: { most: 5 } } }, 'keepDone', 5],
      [{ retain: { cancelled: { most: 1 } } }, { retain: { cancelled: { most: 5 } } }, 'keepCancelled', 5],
      [{ retain: { dead: { most: 1 } } }, { retain: { dead: { most: null } } }, 'keepDead', null],
      [{ limit: 'a' }, { limit: 'b' }, 'limit', 'b'],
    ] as const
  ).map(([first, next, field, counts]) => {
    const limits = { a: { rate: 1 }, b: { rate: 1 } }
    const read = async (mill: Mill): Promise<unknown> =>
      Object.entries((await mill.queues()).find(({ name }) => name === 'mail') ?? {}).find(
        ([key]) => key === field,
      )?.[1]
    return [{ limits, queues: { mail: first } }, { limits, queues: { mail: next } }, read, counts] as const
  }),
  ...(
    [
      [{ rate: 1 }, { rate: 5 }, { type: 'rate', amount: 5, perMs: 1_000, burst: 5 }],
      [{ rate: 1 }, { rate: 1, per: '1m' }, { type: 'rate', amount: 1, perMs: 60_000, burst: 1 }],
      [
        { rate: 1, burst: 2 },
        { rate: 1, burst: 3 },
        { type: 'rate', amount: 1, perMs: 1_000, burst: 3 },
      ],
      [
        { rate: 1 },
        { rate: 1, perKey: true },
        { type: 'rate', amount: 1, perMs: 1_000, burst: 1, perKey: true },
      ],
      [{ concurrency: 1 }, { concurrency: 2 }, { type: 'concurrency', most: 2 }],
      [{ rate: 1 }, { concurrency: 2 }, { type: 'concurrency', most: 2 }],
    ] as const
  ).map(([first, next, counts]) => {
    return [{ limits: { smtp: first } }, { limits: { smtp: next } }, smtpOf, counts] as const
  }),
]

const releaseOf = (workers: number): Code => ({
  queues: { mail: { workers, retain: { done: '7d' } } },
  limits: { smtp: { rate: 5 } },
  schedules: [{ name: 'nightly', job: quick, when: '@daily', priority: 1 }],
})

const versionOf = (version: number): Code => ({
  schedules: [{ name: 'often', job: quick, when: 'every 10s', priority: version, version }],
})

const oftenAt = (when: string): Code => ({ schedules: [{ name: 'often', job: quick, when }] })

describe.each(subjects)('N1 options in code and overrides on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)
  test('N1 each option of queues and limits that a release changes applies from its start', async () => {
    const store = await create({ jobs: [quick] })
    const at = { store, platform: store.platform }
    for (const [first, next, read, counts] of CHANGES) {
      await deploy(at, first)
      expect([next, await deploy(at, next, read)]).toEqual([next, counts])
    }
  })

  test('N1 an override survives deploys, is listed with author and time, and logged with the command that resets it', async () => {
    const store = await create({ jobs: [quick] })
    const at = { store, platform: store.platform }
    await deploy(at, releaseOf(4))
    const since = store.clock.now()
    await store.changeQueue(
      'mail',
      { workers: 8, retain: { done: '1d' }, backoff: { base: '5s' } },
      { by: 'ci' },
    )
    await store.pause('mail', { by: 'ana' })
    await store.limits.change('smtp', { per: '1m' }, { by: 'ana' })
    await store.schedules.change('nightly', { priority: 7, when: '@hourly' }, { by: 'ana' })
    const lines = await deploy(at, releaseOf(5), async (mill, logged) => {
      expect((await mill.queues()).find(({ name }) => name === 'mail')).toMatchObject({
        workers: 8,
        retainDoneMs: 86_400_000,
        backoffBaseMs: 5_000,
        paused: true,
      })
      return [...logged]
    })
    const one = { by: 'ana', at: since, isInCode: true, isApplied: true }
    expect(await store.overrides()).toEqual([
      {
        ...one,
        what: 'queue',
        name: 'mail',
        option: 'backoff.base',
        value: '5s',
        code: '10s',
        isInCode: false,
        by: 'ci',
      },
      { ...one, what: 'queue', name: 'mail', option: 'paused', value: true, code: false, isInCode: false },
      { ...one, what: 'queue', name: 'mail', option: 'retain.done', value: '1d', code: '7d', by: 'ci' },
      { ...one, what: 'queue', name: 'mail', option: 'workers', value: 8, code: 5, by: 'ci' },
      { ...one, what: 'limit', name: 'smtp', option: 'per', value: '1m', code: '1s', isInCode: false },
      { ...one, what: 'schedule', name: 'nightly', option: 'priority', value: 7, code: 1 },
      { ...one, what: 'schedule', name: 'nightly', option: 'when', value: '@hourly', code: '@daily' },
    ])
    const when = new Date(since).toISOString()
    // The burst of the limit follows the overridden rate, so it counts neither as an override nor as drift.
    expect(lines?.filter((line) => line.startsWith('limit smtp'))).toHaveLength(1)
    expect(lines).toContain(
      `queue mail: workers is 8 (override by ci, ${when}), code says 5. Run "jobmill overrides reset queue mail workers" to use the value in code.`,
    )
    expect(lines).toContain(
      `queue mail: backoff.base is 5s (override by ci, ${when}), the default is 10s. Run "jobmill overrides reset queue mail backoff.base" to use the default.`,
    )
    expect(lines).toContain(
      `schedule nightly: priority is 7 (override by ana, ${when}), code says 1. Run "jobmill overrides reset schedule nightly priority" to use the value in code.`,
    )
  })

  test('N1 one call resets one option, a whole queue, limit or schedule, or everything', async () => {
    const store = await create({
      jobs: [quick],
      queues: { mail: { workers: 4, retain: { done: '7d' } } },
      limits: { smtp: { rate: 5 } },
      schedules: [{ name: 'nightly', job: quick, when: '@daily' }],
    })
    const override = async (): Promise<void> => {
      await store.changeQueue('mail', { workers: 8, retain: { done: { for: '1d', most: 5 }, dead: '1d' } })
      await store.limits.change('smtp', { rate: 9, burst: 2 })
      await store.schedules.change('nightly', { priority: 7, paused: true })
    }
    const left = async (): Promise<string[]> =>
      (await store.overrides()).map(({ what, option }) => `${what} ${option}`)
    await override()
    // When the caller passes no name, the override records the process.
    expect((await store.overrides())[0]?.by).toBe(store.instance.label ?? 'application')
    const reset = await store.resetOverrides({ what: 'queue', name: 'mail', option: 'retain.done' })
    expect(reset.find(({ option }) => option === 'retain.done')).toMatchObject({ value: '1d', code: '7d' })
    await store.resetOverrides({ what: 'queue', name: 'mail', option: 'retain' })
    await store.resetOverrides({ what: 'limit', name: 'smtp', option: 'rate' })
    expect(await left()).toEqual(['queue workers', 'limit burst', 'schedule paused', 'schedule priority'])
    await store.resetOverrides({ what: 'schedule', name: 'nightly' })
    await store.resetOverrides({ what: 'limit' })
    expect(await left()).toEqual(['queue workers'])
    await override()
    expect(await store.resetOverrides()).toHaveLength(8)
    expect(await left()).toEqual([])
    expect((await store.queues()).find(({ name }) => name === 'mail')).toMatchObject({
      workers: 4,
      keepDone: null,
    })
    expect(await store.schedules.get('nightly')).toMatchObject({ priority: 0, paused: false, differs: [] })
    for (const [selection, error] of [
      [
        { what: 'queue', name: 'mail', option: 'worker' },
        { code: 'OPTION_UNKNOWN', field: 'option' },
      ],
      [{ what: 'queue', name: 'nope' }, { code: 'QUEUE_UNKNOWN' }],
      [{ what: 'kueue' }, { field: 'what' }],
      [{ name: 'mail' }, { field: 'what' }],
      [{ what: 'queue', option: 'workers' }, { field: 'name' }],
    ] as const)
      expect(await rejection(() => store.resetOverrides(selection as object))).toMatchObject(error)
  })

  test('N1 the reset of an option also resets the options below it', async () => {
    const store = await create({ jobs: [quick], queues: { mail: { retain: { done: '7d', dead: '9d' } } } })
    await store.changeQueue('mail', {
      retain: { done: { for: '1d', most: 5 }, dead: { for: '2d', most: 6 } },
    })
    const reset = await store.resetOverrides({ what: 'queue', name: 'mail', option: 'retain.done' })
    expect(reset.map(({ option }) => option).toSorted()).toEqual(['retain.done', 'retain.done.most'])
    const left = await store.overrides()
    expect(left.map(({ option }) => option).toSorted()).toEqual(['retain.dead', 'retain.dead.most'])
    await store.resetOverrides({ what: 'queue', name: 'mail', option: 'retain.dead.most' })
    expect(await store.overrides()).toMatchObject([{ option: 'retain.dead' }])
  })

  test('S low the log names only overridden options, and the values that a reset applies', async () => {
    const store = await create({ jobs: [quick] })
    const at = { store, platform: store.platform }
    const limits = { smtp: { rate: 8 } }
    await deploy(at, { queues: { mail: { backoff: { base: '10s', max: '1h' } } }, limits })
    await store.changeQueue('mail', { backoff: { max: '1m' } })
    await store.limits.change('smtp', { rate: 49, burst: 5 })
    const lines = await deploy(
      at,
      { queues: { mail: { backoff: { base: '5m', max: '1h' } } }, limits },
      async (_, logged) => [...logged],
    )
    const drift = lines?.filter((line) => /^(?:queue|limit) /.test(line))
    const said = drift?.map((line) => line.replace(/ \(override by .*?\)/, ''))
    const reset = 'Run "jobmill overrides reset'
    expect(said).toEqual([
      `queue mail: backoff.max is 1m, code says 1h. ${reset} queue mail backoff.max" to use the value in code.`,
      `limit smtp: rate is 49, code says 8. ${reset} limit smtp rate" to use the value in code.`,
      `limit smtp: burst is 5, the default is 49. ${reset} limit smtp burst" to use the default.`,
    ])
    const [burst] = await store.resetOverrides({ what: 'limit', name: 'smtp', option: 'burst' })
    expect(burst).toMatchObject({ option: 'burst', code: 49 })
    expect(await smtpOf(store)).toMatchObject({ amount: 49, burst: 49 })
  })

  test('S low a selection with an undefined key resets nothing', async () => {
    const store = await create({ jobs: [quick], queues: { mail: { workers: 2 } } })
    await store.changeQueue('mail', { workers: 3 })
    for (const selection of [
      { what: undefined },
      { what: 'queue', name: undefined },
      { what: 'queue', name: 'mail', option: undefined },
    ])
      expect(await rejection(() => store.resetOverrides(selection as object))).toMatchObject({
        code: 'OPTION_INVALID',
        field: `selection.${Object.keys(selection).at(-1)}`,
        fix: `Pass a value, or omit ${Object.keys(selection).at(-1)}`,
      })
    expect(await store.overrides()).toHaveLength(1)
  })

  test('N1 a deleted schedule of code is listed and logged, survives deploys, and runs again at once after a reset', async () => {
    const store = await create({ jobs: [quick] })
    const at = { store, platform: store.platform }
    await deploy(at, versionOf(1))
    await store.schedules.change('often', { when: '@daily' }, { by: 'ana' })
    const since = store.clock.now()
    expect(await store.schedules.delete('often', { by: 'ops' })).toBe(true)
    const deleted = { what: 'schedule', name: 'often', option: 'deleted', value: true, code: false }
    const listed = { ...deleted, isInCode: true, isApplied: true, by: 'ops', at: since }
    await deploy(at, versionOf(2), async (mill, lines) => {
      expect(await mill.overrides()).toEqual([listed])
      expect(lines).toEqual([
        `schedule often: deleted is true (override by ops, ${new Date(since).toISOString()}), code says false. ` +
          'Run "jobmill overrides reset schedule often deleted" to use the value in code.',
      ])
      await store.clock.advance('1m')
      expect(await mill.schedules.list()).toEqual([])
      expect(await store.resetOverrides({ what: 'schedule', name: 'often' })).toEqual([listed])
      await store.clock.advance('30s')
      expect(await mill.schedules.get('often')).toMatchObject({ when: 'every 10s', priority: 2, differs: [] })
      expect(await mill.schedules.history('often')).toHaveLength(3)
      expect(await mill.drift()).toEqual([])
    })
    // A process whose code does not define the schedule reports no drift for its deletion.
    await store.schedules.delete('often')
    await deploy(at, {}, async (mill) => expect(await mill.drift()).toEqual([]))
    expect(await store.resetOverrides()).toMatchObject([{ ...deleted, by: 'application' }])
  })

  test('N1 a process that only adds missing schedules keeps the mark of a deleted one', async () => {
    const store = await create({ jobs: [quick] })
    const at = { store, platform: store.platform }
    await deploy(at, oftenAt('every 10s'))
    await store.schedules.delete('often')
    await declare(
      store.store,
      resolveOptions({ store: store.store, jobs: [quick], ...oftenAt('@daily') }),
      'missing',
    )
    await store.resetOverrides()
    expect(await store.schedules.get('often')).toMatchObject({ when: 'every 10s' })
  })

  test('N1 D2 a process that only adds missing queues sets up one that a job has created, and keeps declared ones', async () => {
    const store = await create({ jobs: [quick] })
    await store.enqueue(quick, null, { queue: 'mail' })
    const addMissing = (workers: number): Promise<void> =>
      declare(
        store.store,
        resolveOptions({
          store: store.store,
          jobs: [quick],
          limits: { smtp: { rate: 5 } },
          queues: { mail: { workers, limit: 'smtp' } },
        }),
        'missing',
      )
    for (const workers of [2, 3]) {
      await addMissing(workers)
      expect((await store.queues()).find(({ name }) => name === 'mail')).toMatchObject({
        workers: 2,
        limit: 'smtp',
      })
    }
  })

  test('N1 of two releases side by side the last started one applies, and the other reports it', async () => {
    const store = await create({ jobs: [quick] })
    const at = { store, platform: store.platform }
    await deploy(at, { queues: { mail: { workers: 2 } } }, async (old) => {
      await deploy(at, { queues: { mail: { workers: 3 } } })
      expect((await old.queues()).find(({ name }) => name === 'mail')).toMatchObject({ workers: 3 })
      expect(await old.drift()).toEqual([
        {
          what: 'queue',
          name: 'mail',
          field: 'workers',
          code: 2,
          stored: 3,
          isInCode: true,
          override: null,
          higherVersion: null,
        },
      ])
      expect(await old.overrides()).toEqual([])
    })
    // A process that does not declare the queue leaves its settings unchanged.
    await deploy(at, {}, async (mill) => mill.serve('mail'))
    expect((await store.queues()).find(({ name }) => name === 'mail')).toMatchObject({ workers: 3 })
  })
})
