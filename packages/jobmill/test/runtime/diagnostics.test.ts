// Provokes each diagnostic on both stores and checks its subject, its text and its fix.
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { Dead, defineJob, type JobContext, type FullStore, Throttled } from '../../src/index.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/store.ts'
import type { StoreTools } from '../../src/store/admin/tools.ts'
import { runChecks } from '../../src/runtime/diagnose/check.ts'
import { LIVE_CHECKS } from '../../src/runtime/diagnose/checks.ts'
import type { LiveScene } from '../../src/runtime/diagnose/scene.ts'
import { type TestMill, testMill, testPlatform } from '../../src/testing/index.ts'
import { anInstance } from '../../../conformance/src/index.ts'
import { lent, subjects } from './stores.ts'

const dies = defineJob({
  kind: 'dies',
  run() {
    throw new Dead('no')
  },
})
const failing = (kind: string) =>
  defineJob({
    kind,
    run() {
      throw new Dead(`${kind} broke`)
    },
  })
const throttled = defineJob({
  kind: 'throttled',
  queue: 'slow',
  run() {
    throw new Throttled({ retryAfter: '90s' })
  },
})
const typed = defineJob({
  kind: 'typed',
  queue: 'held',
  maxAttempts: 3,
  payload: z.object({ to: z.string(), times: z.number().default(1) }),
  run: ({ payload }: JobContext<{ to: string }>) => payload.to,
})
const hidden = defineJob({
  kind: 'hidden',
  payload: { '~standard': { version: 1, vendor: 'mine', validate: (value) => ({ value }) } },
  run: () => null,
  onDead: () => {},
})

const JOBS = { jobs: [dies, throttled, typed, hidden] }

const problemsOf = async (mill: TestMill): Promise<unknown[]> =>
  (await mill.diagnostics()).map(({ check, about, message }) => [check, about.what, about.name, message])

/** Returns the store with some of its tools replaced. */
function having(store: FullStore, tools: Partial<StoreTools>): FullStore {
  const { tools: own } = store as FullStore & { readonly tools: StoreTools }
  return Object.assign(Object.create(store) as FullStore, { tools: { ...own, ...tools } })
}

const NOTHING: LiveScene = {
  instances: [],
  deadHolders: new Set(),
  unservedKinds: [],
  queues: [],
  duties: [],
  drift: [],
  periods: new Map(),
  hidesPayloads: true,
  unusedSteps: [],
  counts: [],
  limits: [],
  schedules: [],
  series: [],
  kinds: [],
  failing: [],
  now: 0,
}

describe('a queue', () => {
  const queue = { ...DEFAULT_QUEUE_SETTINGS, name: 'q', coolingMs: 0, throttles: 0 }
  const counts = { queue: 'q', scheduled: 0, ready: 3, running: 0, done: 0, dead: 0, cancelled: 0 }
  const serving = { ...anInstance({ queues: ['q'] }), state: 'alive', startedAt: 0, renewedAt: 0 } as const
  const messages = (own: object, oldestReadyMs: number, instances = [serving]): string[] =>
    runChecks(LIVE_CHECKS, {
      ...NOTHING,
      queues: [{ ...queue, ...own }],
      counts: [{ ...counts, oldestReadyMs }],
      instances: instances.map((one) => ({
        ...one,
        expiresAt: 1,
        endedAt: null,
        requested: null,
        requestedBy: null,
        requestedAt: null,
      })),
    }).map((one) => one.message)

  test('with an old ready job is reported, unless another diagnostic explains it or no process serves it', () => {
    const late = ['the oldest ready job in queue "q" has waited for 6 min']
    expect(messages({}, 360_000)).toEqual(late)
    expect(messages({}, 300_000)).toEqual([])
    expect(messages({}, 360_000, [])).toEqual([])
    for (const shut of [{ paused: true }, { workers: 0 }, { coolingMs: 1_000 }])
      expect(messages(shut, 360_000)).not.toContain(late[0])
  })

  test('that is cooling down is reported with its number of throttles', () => {
    expect(messages({ coolingMs: 30_000, throttles: 2 }, 1)).toEqual([
      'queue "q" is cooling down for another 30 s, after 2 throttles',
    ])
  })
})

describe.each(subjects)('diagnostics on $name', ({ name, mill: aMill }) => {
  const test = inTurns(name, subjects)
  test('a healthy mill has none', async () => {
    const mill = await aMill(JOBS)
    await mill.clock.advance('5s')
    expect(await mill.diagnostics()).toEqual([])
  })

  test('report queues that are paused, cooling down or without workers, dead jobs and drained limits', async () => {
    const mill = await aMill({
      ...JOBS,
      serve: ['held', 'none', 'slow', 'default'],
      queues: { held: { paused: true }, none: { workers: 0 }, slow: {}, default: {} },
      limits: { smtp: { rate: 5 } },
    })
    await mill.enqueue(typed, { to: 'ada' })
    await mill.enqueue(dies, null, { queue: 'none' })
    await mill.enqueue(dies, null, { queue: 'none' })
    await mill.enqueue(throttled, null)
    for (let n = 0; n < 11; n += 1) await mill.enqueue(dies, null)
    await mill.clock.advance('3s')
    await mill.limits.drain('smtp', { retryAfter: '2m' })
    const cooling: unknown = expect.stringMatching(/^queue "slow" is cooling down for another 1 min \d+ s$/)
    const failing: unknown = expect.stringMatching(
      /^dies: 100% of 11 attempts failed in the last 10 min, since \d\d:\d\d UTC\. Dead: no$/,
    )
    expect(await problemsOf(mill)).toEqual([
      ['failing', 'kind', 'dies', failing],
      ['dead', 'queue', 'default', '11 jobs failed permanently in queue "default" in the last 10 min'],
      ['paused', 'queue', 'held', 'queue "held" is paused, and 1 job is waiting'],
      ['workers', 'queue', 'none', 'queue "none" has 0 workers, and 2 jobs are waiting'],
      ['cooling', 'queue', 'slow', cooling],
      ['drained', 'limit', 'smtp', 'limit "smtp" grants nothing for another 2 min'],
    ])
  })

  test('N14 dead jobs need attention, however few, until they are retried or deleted', async () => {
    const mill = await aMill(JOBS)
    for (let n = 0; n < 6; n += 1) await mill.enqueue(dies, null)
    await mill.clock.advance('3s')
    expect(await mill.diagnostics()).toMatchObject([
      {
        check: 'dead',
        about: { what: 'queue', name: 'default' },
        level: 'notice',
        message: 'queue "default" has 6 dead jobs',
        fix: 'Review the errors, fix the cause, then retry or delete the jobs',
      },
    ])
    await mill.bulk.run('delete', { state: 'dead' })
    expect(await mill.diagnostics()).toEqual([])
  })

  test('problems of the database come first; a payload that differs is not shown', async () => {
    const pinned = { pid: 42, ageMs: 600_000, user: 'ada', state: 'idle in transaction', query: 'SELECT 1' }
    const mill = await aMill(
      { ...JOBS, schedules: [{ name: 'nightly', job: 'dies', when: '0 3 * * *', payload: { pin: 1 } }] },
      (store) =>
        having(store, {
          health: async () => ({ server: 'x', sizeBytes: 1, logBytes: null, tables: [], pinned: [pinned] }),
          schema: async () => ({ isThere: true, applied: [], pending: [], refused: 'too new' }),
        }),
    )
    await mill.schedules.change('nightly', { payload: { pin: 2 } })
    const diagnostics = await mill.diagnostics()
    expect(diagnostics.map(({ level, check, about }) => [level, check, about.what])).toEqual([
      ['error', 'schema', 'database'],
      ['warning', 'horizon', 'database'],
      ['notice', 'settings', 'schedule'],
    ])
    expect(diagnostics[1]?.message).toContain('session 42 (idle in transaction)')
    expect(JSON.stringify(diagnostics)).not.toMatch(/SELECT 1"|"pin/)
  })

  test('a failed database check is a diagnostic, and a store without tools has none', async () => {
    const away = { health: (): Promise<never> => Promise.reject(new Error('at db.internal')) }
    const mill = await aMill(JOBS, (store) => having(store, away))
    expect(await problemsOf(mill)).toEqual([
      ['database', 'database', null, 'the database check failed: INTERNAL'],
    ])
    const bare = await aMill(JOBS, (store) =>
      Object.assign(Object.create(store) as FullStore, { tools: undefined }),
    )
    expect(await bare.diagnostics()).toEqual([])
    expect(await bare.system()).toMatchObject({ database: null, migrations: null })
  })

  test('a kind that fails is an error, worst first, until it recovers; health() has each queue and kind', async () => {
    let isUp = true
    const charge = defineJob({
      kind: 'charge',
      queue: 'payments',
      maxAttempts: 2,
      backoff: { fixed: '1h' },
      run({ job }: JobContext) {
        if (!isUp) throw new Error(`TLS handshake failed (request ${job.id})`)
      },
    })
    const platform = testPlatform()
    const before = await aMill({ jobs: [charge], platform, instance: { version: '2.14.0' } })
    for (let n = 0; n < 12; n += 1) await before.enqueue(charge, null)
    await before.clock.advance('11m')
    await before.quietInstance(before.instance.id)

    isUp = false
    const options = { ...JOBS, jobs: [...JOBS.jobs, charge], platform, instance: { version: '2.15.0' } }
    const mill = await testMill({ ...options, store: () => lent(before) })
    onTestFinished(async () => void (await mill.stop()))
    for (let n = 0; n < 12; n += 1) await mill.enqueue(charge, null)
    await mill.enqueue(dies, null)
    await mill.clock.advance('5s')
    const [first, second] = await mill.diagnostics()
    expect(first).toMatchObject({ check: 'failing', level: 'error', about: { what: 'kind', name: 'charge' } })
    expect(first?.message).toMatch(
      /^charge: 100% of 12 attempts failed .* UTC, first seen with 2\.15\.0\. Error: TLS handshake failed/,
    )
    expect(second).toMatchObject({ check: 'dead', level: 'notice', about: { name: 'default' } })
    const { queues, kinds } = await mill.health()
    expect(queues.map(({ queue, health }) => [queue, health])).toEqual([
      ['default', 'ok'],
      ['held', 'ok'],
      ['jobmill.dead', 'ok'],
      ['payments', 'failing'],
      ['slow', 'ok'],
    ])
    expect(kinds.map(({ kind, health, attempts, failed }) => [kind, health, attempts, failed])).toEqual([
      ['charge', 'failing', 12, 12],
      ['dies', 'ok', 1, 1],
    ])

    isUp = true
    await mill.clock.advance('4m')
    for (let n = 0; n < 6; n += 1) await mill.enqueue(charge, null)
    await mill.clock.advance('5s')
    expect((await mill.diagnostics()).map(({ check }) => check)).toEqual(['dead'])
  })

  test('the error of a failing kind is found among many dead jobs of another', async () => {
    const [rare, crowd] = [failing('rare'), failing('crowd')]
    const mill = await aMill({ jobs: [rare, crowd] })
    for (let n = 0; n < 12; n += 1) await mill.enqueue(rare, null)
    await mill.clock.advance('5s')
    await mill.enqueueMany(
      crowd,
      Array.from({ length: 120 }, () => ({ payload: null })),
    )
    await mill.clock.advance('5s')
    const found = (await mill.diagnostics()).filter(({ check }) => check === 'failing')
    expect(found.map(({ about, message }) => [about.name, /\w+ broke/.exec(message)?.[0]])).toEqual([
      ['crowd', 'crowd broke'],
      ['rare', 'rare broke'],
    ])
  })

  test('every failing kind is reported, and the ten worst with the time since when they fail', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `broken-${n + 10}`)
    const mill = await aMill({ jobs: names.map((kind) => defineJob({ kind, run: () => null })) })
    const deltas = names.map((kind, n) => ({
      scope: `kind ${kind}`,
      agoMs: 1_000,
      data: { counters: { dead: 100 - n } },
    }))
    const source = anInstance().id
    await mill.store.metrics.record({ source, seq: 1, own: [], events: [], deltas })
    const found = await mill.diagnostics()
    expect(found.map(({ check, about }) => [check, about.name])).toEqual(
      names.map((name) => ['failing', name]),
    )
    expect(found.filter(({ message }) => / since \d\d:\d\d UTC$/.test(message))).toHaveLength(10)
  })

  test('system() returns the database, the duties and the store timings', async () => {
    const mill = await aMill(JOBS)
    await mill.clock.advance('20s')
    const { database, duties, storeTimings, startedAt, node } = await mill.system()
    expect(database?.server).toMatch(/^(SQLite|PostgreSQL) \d/)
    expect(duties.find(({ name }) => name === 'roll-up')).toMatchObject({ everyMs: 15_000, failures: 0 })
    expect(duties.find(({ name }) => name === 'reap')?.everyMs).toBeNull()
    expect(storeTimings.heartbeat.count).toBeGreaterThan(5)
    expect(startedAt).toBeGreaterThan(0)
    expect(node).toBe(process.version)
  })

  test('kinds() lists the instances of each kind and the shape of its payload', async () => {
    const mill = await aMill({ ...JOBS, start: false })
    await mill.open()
    const kinds = await mill.kinds()
    expect(kinds.map(({ kind, queue, maxAttempts, served }) => [kind, queue, maxAttempts, served])).toEqual([
      ['dies', 'default', 5, false],
      ['hidden', 'default', 5, false],
      ['throttled', 'slow', 5, false],
      ['typed', 'held', 3, false],
    ])
    expect(kinds.map(({ schema }) => schema?.['required'])).toEqual([undefined, undefined, undefined, ['to']])
    await mill.start()
    expect((await mill.kinds()).map(({ kind, instances }) => [kind, instances])).toEqual([
      ['dies', 1],
      ['hidden', 1],
      ['throttled', 1],
      ['typed', 1],
    ])
  })
})
