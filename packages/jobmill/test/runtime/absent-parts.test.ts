// A mill on a store without the optional parts: jobs run, and what needs a part is refused by its name.
import { describe, expect, test } from 'vitest'
import { checkOptions, defineJob, type JobContext, jobmill, type Store } from '../../src/index.ts'
import { withAllParts } from '../../src/store/absent-parts.ts'
import { oracle, oracleDatabase, type OracleTx } from '../../../conformance/src/oracle/oracle.ts'
import { faultyStore, testMill, testPlatform } from '../../src/testing/index.ts'
import { aClaim } from '../../../conformance/src/index.ts'
import { rejection } from '../unit/support.ts'

const echo = defineJob({ kind: 'echo', run: ({ payload }: JobContext<number>) => payload })
const daily = { name: 'daily', job: echo, when: '@daily', payload: 1 } as const

const bare = ({ now }: { readonly now: () => number }): Store<OracleTx> =>
  without(oracle(oracleDatabase(), { clock: now }))

function without<Tx>(store: Store<Tx>): Store<Tx> {
  const { overrides: _o, inspect: _i, schedules: _s, limits: _l, alerts: _a, views: _v, ...most } = store
  const { metrics: _m, notifier: _n, ...rest } = most
  return rest
}

const unsupported = (part: string): object => ({
  code: 'STORE_UNSUPPORTED',
  message: `the store oracle does not support ${part}. Remove the ${part}, or use a store that supports them.`,
})

describe('a mill on a store without its optional parts', () => {
  test('runs, retries, cancels and retains jobs', async () => {
    let runs = 0
    const flaky = defineJob({
      kind: 'flaky',
      run() {
        runs += 1
        if (runs === 1) throw new Error('not yet')
        return runs
      },
    })
    await using mill = await testMill({
      jobs: [echo, flaky],
      store: bare,
      queues: { default: { retain: { done: '5m' } } },
    })
    const [first, second, third] = [
      await mill.enqueue(echo, 7),
      await mill.enqueue(flaky, {}),
      await mill.enqueue(echo, 8, { delay: '1h' }),
    ]
    await mill.cancel(third.id)
    await mill.drain()
    expect(await first.result()).toBe(7)
    await mill.clock.advance('1m')
    expect(await second.result()).toBe(2)
    expect(await mill.get(third.id)).toMatchObject({ state: 'cancelled' })
    await mill.clock.advance('10m')
    expect(await mill.get(first.id)).toBeNull()
  })

  test('runs jobs that another process wrote', async () => {
    const platform = testPlatform()
    const database = oracleDatabase()
    const store = (): Store<OracleTx> => without(oracle(database, { clock: platform.now }))
    await using worker = await testMill({ jobs: [echo], store, platform })
    await using web = await testMill({ jobs: [echo], store, platform, start: false })
    const job = await web.enqueue(echo, 7)
    await platform.advance('10s')
    expect(await worker.get(job.id)).toMatchObject({ state: 'done', result: 7 })
  })

  test('reads of an absent part find nothing', async () => {
    await using mill = await testMill({ jobs: [echo], store: bare })
    const job = await mill.enqueue(echo, 7)
    await mill.drain()
    expect(await mill.schedules.list()).toEqual([])
    expect(await mill.schedules.delete('daily')).toBe(false)
    expect(await mill.limits.list()).toEqual([])
    expect(await mill.limits.delete('smtp')).toBe(false)
    expect(await mill.alerts.list()).toEqual([])
    expect(await mill.alerts.delete('ops')).toBe(false)
    expect((await mill.timeline()).events).toEqual([])
    expect(await mill.metrics()).toMatchObject({ queues: [], instances: [], limits: [] })
    expect((await mill.why(job.id))?.state).toBe('done')
    expect(await mill.overrides()).toEqual([])
    expect([await mill.versions(), await mill.unservedKinds()]).toEqual([[], []])
  })

  test('refuses schedules, limits and alert rules in code before it opens the store', () => {
    const store = bare(testPlatform())
    const alerts = { ops: { url: 'https://example.com', secret: `whsec_${'a'.repeat(32)}` } }
    const options = { store, jobs: [echo], schedules: [daily], limits: { smtp: { concurrency: 1 } }, alerts }
    const errors = checkOptions(options).filter(({ level }) => level === 'error')
    expect(errors).toEqual(
      ['schedules', 'limits', 'alerts'].map((part) => ({
        level: 'error',
        code: 'STORE_UNSUPPORTED',
        option: part,
        message: `${part}: the store oracle does not support ${part}. Remove the ${part}, or use a store that supports them.`,
      })),
    )
  })

  test('refuses to create schedules and limits, and to use a limit', async () => {
    await using mill = await testMill({ jobs: [echo], store: bare })
    expect(await rejection(() => mill.schedules.create(daily))).toMatchObject(unsupported('schedules'))
    expect(await rejection(() => mill.limits.create('smtp', { concurrency: 1 }))).toMatchObject(
      unsupported('limits'),
    )
    expect(await rejection(() => mill.limit('smtp').acquire())).toMatchObject(unsupported('limits'))
  })

  test('refuses to look up a dedupe key, and to reset an override', async () => {
    await using mill = await testMill({ jobs: [echo], store: bare })
    await mill.enqueue(echo, 7, { dedupeKey: 'k' })
    expect(await rejection(() => mill.holder('k'))).toMatchObject({
      code: 'STORE_UNSUPPORTED',
      message:
        'the store oracle does not support lookups of dedupe keys. Read the reply of the enqueue, or use a store that supports them.',
    })
    await mill.changeQueue('default', { workers: 2 })
    expect((await mill.queues()).map(({ workers }) => workers)).toEqual([2])
    const reset = await rejection(() => mill.resetOverrides({ what: 'queue', name: 'default' }))
    expect(reset).toMatchObject({ code: 'STORE_UNSUPPORTED' })
  })

  test('warns about parts without which reads stay empty or latency rises', () => {
    const mill = jobmill({ jobs: [echo], store: bare(testPlatform()), log: 'silent' })
    expect(mill.warnings.map(({ code, message }) => ({ code, message }))).toEqual([
      {
        code: 'STORE_UNSUPPORTED',
        message: 'store: oracle has no inspect. Errors, versions and kinds without a worker stay empty',
      },
      {
        code: 'STORE_UNSUPPORTED',
        message: 'store: oracle has no metrics. Metrics, timeline and audit log stay empty',
      },
      {
        code: 'STORE_UNSUPPORTED',
        message:
          'store: oracle has no notifier. Workers find the jobs of other processes with their next heartbeat',
      },
    ])
  })

  test('a store with fault injection stays without them', async () => {
    const store = faultyStore(bare(testPlatform()))
    expect(store.limits).toBeUndefined()
    store.fail('counts')
    expect(await rejection(() => store.counts())).toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })

  test('calls a store that is a class on its own object', async () => {
    const platform = testPlatform()
    const store = withAllParts(classOf(bare(platform)), platform)
    await store.open()
    expect(await store.claim(aClaim(platform.id()))).toEqual([])
    await store.close()
  })
})

/** The same store as a class with private state, which only its own methods can read. */
function classOf(store: Store<OracleTx>): Store<OracleTx> {
  class Wrapped {
    readonly #store = store
    claim(...args: Parameters<Store['claim']>): ReturnType<Store['claim']> {
      return this.#store.claim(...args)
    }
  }
  const own = new Wrapped()
  for (const [name, member] of Object.entries(store))
    if (name !== 'claim') Object.defineProperty(own, name, { value: member, enumerable: true })
  return own as unknown as Store<OracleTx>
}
