// Explains every statement of the store at 100,000 rows with the statistics of ANALYZE, which an operator may
// run at any time: none scans a growing table, and none sorts.
import { inFull } from '../../../../test/support/suite/in-full.ts'
import Database from 'better-sqlite3'
import { assert, describe, test, vi } from 'vitest'
import { DEFAULTS } from '../../src/job/defaults.ts'
import type { NewJob } from '../../src/job/enqueue/new-job.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import { entryOf } from '../../src/job/payload/indexed.ts'
import { JOB_STATES } from '../../src/job/state.ts'
import { MIGRATIONS } from '../../src/store-sqlite/schema/migrations.ts'
import { definePayloadHas } from '../../src/store-sqlite/inspect/payload-has.ts'
import type { FullStore } from '../../src/store/store.ts'
import {
  anAlert,
  aClaim,
  aDefinition,
  aJob,
  anInstance,
  aHeartbeat,
  aRetain,
  anAcquire,
  aTick,
  KIND,
  QUEUE,
  someJobs,
} from '../../../conformance/src/factories.ts'
import { freshFile, openStore } from './support.ts'

const ROWS = inFull(100_000, 60_000)
const EACH = { type: 'rate', amount: 1, perMs: 1_000, burst: 1, perKey: true } as const

/**
 * Tables that grow with jobs or time, by the names that statements use. The index of limits without keys does
 * not grow. The others stay small: a row per queue, kind, schedule, duty or live instance, and metrics before
 * their roll-up.
 */
const GROWING =
  /^SCAN (?:jobmill_(?:job|attempt|dedupe|turn|tag|tick|permit|place|limit|recording|metric|event)|j|a|t|l|line|tagged)\b(?! USING INDEX jobmill_limit_own)/

/** The statements of shared state. The jobs of this queue use limits. */
/** Cancels the jobs first: only jobs that ended are retried. */
async function retryWithPayloads(store: FullStore, ids: readonly string[]): Promise<void> {
  await store.cancel(ids, 'test')
  const ended = (await store.get(ids)).filter((job) => job !== null && job.endedAt !== null)
  await store.retry(
    ended.map((job) => job?.id ?? ''),
    ended.map((job) => ({ payload: '1', entries: [entryOf('a', '2')], endedAt: job?.endedAt ?? 0 })),
  )
}

async function clusterStatements(store: FullStore, instance: string): Promise<void> {
  await store.limits.declare([
    { name: 'rate', settings: { type: 'rate', amount: 1, perMs: 60_000, burst: 1 } },
    { name: 'few', settings: { type: 'concurrency', most: 2 } },
    { name: 'gone', settings: { type: 'concurrency', most: 1 } },
    { name: 'each', settings: EACH },
  ])
  await store.limits.acquire(['a', 'b', 'a'].map((key) => anAcquire('each', { key })))
  await store.limits.drain('each', 1, 'c')
  await store.limits.change('each', { ...EACH, burst: 2 })
  await store.limits.list()
  await store.limits.delete('each')
  await store.limits.change('few', { type: 'concurrency', most: 3 })
  await store.limits.drain('gone', 1)
  await store.limits.delete('gone')
  for (const limit of ['rate', 'few']) {
    await store.queues.declare([{ name: limit, settings: { ...DEFAULT_QUEUE_SETTINGS, limit, keepDone: 0 } }])
    await store.enqueue(someJobs([{ queue: limit }, { queue: limit }]))
  }
  const queues = ['rate', 'few'].map((queue) => ({ queue, room: 5 }))
  const leases = await store.claim(aClaim(instance, { queues }))
  const [holder] = leases
    .filter(({ queue }) => queue === 'few')
    .map(({ id, token }) => ({ holder: id, token }))
  await store.limits.acquire([
    anAcquire('few', { ...holder, instance }),
    anAcquire('few', { instance }),
    anAcquire('rate'),
    anAcquire('rate'),
  ])
  await store.limits.release([
    { limit: 'few', holder: holder?.holder ?? '', token: holder?.token ?? 0 },
    { limit: 'few', holder: holder?.holder ?? '', token: null },
  ])
  await store.finish(
    leases.map(({ id, token }) => ({
      id,
      token,
      outcome: 'returned',
      transition: { to: 'done', result: null },
    })),
  )
  await store.instances.assign([{ instance, queue: QUEUE, workers: 1 }])
  await store.instances.assign([{ instance, queue: QUEUE, workers: null }])
  await store.schedules.declare([{ name: 'daily', version: 1, definition: aDefinition() }])
  await store.schedules.create('other', aDefinition())
  await store.schedules.change('other', { paused: true })
  await store.schedules.tick([aTick('daily', { nextAt: 2, fires: [{ at: 1, job: aJob() }] })])
  await store.schedules.failed('daily', 'why')
  await store.schedules.delete('other')
  const revision = await store.alerts.put(anAlert('ops'))
  await store.alerts.put(anAlert('ops', { revision }))
  await store.alerts.list()
  await store.alerts.delete('ops')
  await store.views.add({ name: 'Dead', search: 'state=dead', by: 'ada' })
  await store.views.list()
  await store.views.delete('Dead')
  const figure = { scope: 'queue default', agoMs: 0, data: { counters: { done: 1 } } }
  const event = { type: 'paused', agoMs: 0, queue: QUEUE, job: aJob().id, data: '{}' }
  for (const seq of [1, 2]) {
    const own = [{ ...figure, scope: 'instance', resolution: 10_000 as const }]
    await store.metrics.record({ source: instance, seq, deltas: [figure], own, events: [event] })
    if (seq === 1) await store.metrics.rollUp(10)
  }
  const all = { from: 0, before: 4_000_000_000_000 }
  await store.metrics.read({ resolution: 10_000, ...all })
  const filters = [{}, { types: [event.type] }, { queue: QUEUE }, { job: event.job }, all]
  for (const filter of filters) await store.metrics.timeline({ limit: 10, ...filter })
  await Promise.all([
    store.instances.duties(),
    store.instances.slots(),
    store.schedules.list(),
    store.schedules.ticks('daily', 1),
    store.limits.list(),
  ])
}

function many(): NewJob[] {
  return someJobs(Array.from({ length: 20 }, () => ({ queue: 'many' })))
}

/** Bulk direct dispatch, claims and finishes have their own statements, with and without equal jobs. */
async function statementsForMany(store: FullStore, instance: string): Promise<void> {
  const directDispatch = { instance, queues: [{ queue: 'many', room: 100 }], kinds: [KIND] }
  const ends = [
    { result: () => null, forget: false },
    { result: () => null, forget: true },
    { result: (at: number) => String(at), forget: false },
  ]
  for (const { result, forget } of ends) {
    const leases = (await store.enqueue(many(), { directDispatch })).flatMap(({ lease }) => lease ?? [])
    await store.enqueue(many())
    leases.push(...(await store.claim(aClaim(instance, { queues: directDispatch.queues, limit: 15 }))))
    await store.enqueue([aJob({ queue: 'many', priority: -1 })])
    leases.push(...(await store.claim(aClaim(instance, { queues: directDispatch.queues, limit: 3 }))))
    await store.finish(
      leases.map(({ id, token }, at) => {
        const transition = { to: 'done', result: result(at), forget } as const
        return { id, token, outcome: 'returned', transition }
      }),
    )
    await store.delete(
      (await store.list({ queue: 'many', state: 'ready' }, { limit: 50 })).jobs.map(({ id }) => id),
    )
  }
}

/** Runs every verb and every list; returns the text of every statement. */
async function everyStatement(path: string): Promise<string[]> {
  const texts = new Set<string>()
  const spy = vi.spyOn(Database.prototype, 'prepare')
  const store = await openStore(path)
  const instance = anInstance({ leaseMs: 0 })
  const living = anInstance()
  const held = aJob({
    dedupe: { key: 'k', onConflict: 'replace', holdFor: '1s' },
    orderKey: 'a',
    tags: ['x'],
  })
  await store.queues.declare([{ name: 'default', settings: { ...DEFAULT_QUEUE_SETTINGS, retainDoneMs: 0 } }])
  await store.instances.register(living)
  await store.enqueue([held, aJob(), aJob({ delay: 1 }), aJob(), aJob({ orderKey: 'b' })])
  await store.enqueue([{ ...held, id: aJob().id, delayMs: 1 }])
  await store.enqueue([{ ...held, id: aJob().id, tags: [entryOf('a', '1')] }])
  await store.stage(10)
  const waits = aJob({ orderKey: 'a' })
  await store.enqueue([waits])
  await store.inspect.blocker(waits.id)
  await store.delete([waits.id])
  const leases = await store.claim(aClaim(living.id))
  await store.claim(aClaim(living.id, { quarantined: 'only' }))
  await store.progress(leases.map(({ id, token }) => ({ id, token, value: '1', log: 'one' })))
  const to = [
    { to: 'done', result: null },
    { to: 'scheduled', delayMs: 0, refund: false },
    { to: 'dead' },
  ] as const
  const finishes = leases.map(({ id, token }, at) => {
    const transition = to[at % to.length] ?? to[0]
    return { id, token, transition, outcome: 'returned', cool: { baseMs: 0, maxMs: 0, quietMs: 0 } } as const
  })
  await store.finish([...finishes, ...finishes])
  await statementsForMany(store, living.id)
  const ids = leases.map(({ id }) => id)
  await store.retry(ids)
  await retryWithPayloads(store, ids)
  await store.runNow(ids)
  await store.claim(aClaim(living.id))
  await store.cancel(ids, 'why')
  await clusterStatements(store, living.id)
  await store.instances.register(instance)
  const duties = [{ name: 'schedule', succeededAgoMs: 0, failures: 0 }]
  await store.instances.renew(
    aHeartbeat(living.id, { renewEveryMs: 0, duties, queues: [QUEUE, 'few', 'rate'], kinds: [KIND] }),
  )
  await store.instances.reap({ crashesUntilDead: 3, limit: 10 })
  await store.instances.deregister(living.id)
  for (const filter of [{}, ...JOB_STATES.map((state) => ({ state }))]) {
    await store.list(filter, { limit: 10 })
    await store.list({ ...filter, queue: 'default', tags: ['x'] }, { limit: 10 })
    await store.list({ ...filter, tags: ['x'], byTag: true }, { limit: 10 })
    await store.list(
      { ...filter, queue: ['default', 'few'], kind: [KIND, 'x'], retrying: true },
      { limit: 10 },
    )
    await store.list({ ...filter, endedFrom: 1, endedBefore: 2 }, { limit: 10 })
    await store.list(
      { ...filter, failedFrom: 1, failedBefore: 2, startedFrom: 1, version: '1' },
      { limit: 10 },
    )
    await store.list({ ...filter, startedBefore: 2, orderKey: 'a', dedupeKey: 'k' }, { limit: 10 })
    await store.list({ ...filter, errorText: 'x', payloadAt: [{ path: ['a'], value: '1' }] }, { limit: 10 })
  }
  await Promise.all([
    store.get(ids),
    store.results(ids),
    store.inspect.failures(ids),
    store.inspect.runs(ids, 0),
    store.inspect.unservedKinds(),
    store.history(held.id),
    store.counts(),
    store.queues.list(),
    store.instances.list(),
    store.inspect.versions(),
  ])
  await store.instances.held(living.id)
  await store.queues.change('default', { settings: {}, coolMs: 0 })
  await store.delete(ids)
  await store.retain(aRetain({ ticksMs: 0, eventsMs: 0, metricsMs: [0, 0, 0, 0] }))
  await store.notifier.wait({ queues: ['nothing'], timeoutMs: 20 })
  for (const [text] of spy.mock.calls) texts.add(text)
  spy.mockRestore()
  return [...texts].filter((text) => /^\s*(?:SELECT|INSERT|UPDATE|DELETE)\b/.test(text))
}

describe('sqlite plans', () => {
  test('P15 P4 every statement uses an index, and no list sorts', async () => {
    const path = freshFile()
    const store = await openStore(path)
    for (let call = 0; call < ROWS / 1_000; call += 1) {
      await store.enqueue(
        someJobs(Array.from({ length: 1_000 }, (_, n) => ({ queue: 'full', delay: (n % 2) * 3_600_000 }))),
      )
    }
    // The scan budget of a list, while there are enough rows to spend it on.
    const page = await store.list({ payloadText: 'nowhere' }, { limit: 50 })
    assert.deepEqual([page.jobs.length, page.complete, page.scanned <= 50_000], [0, false, true])
    const texts = await everyStatement(path)
    const db = new Database(path)
    definePayloadHas(db)
    db.exec('ANALYZE')
    const plans = texts.map((text) => {
      const values = Array.from({ length: text.split('?').length - 1 }, () =>
        text.includes('json_each') ? '[]' : 1,
      )
      const rows = db.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values) as { detail: string }[]
      return { text: text.trim().replaceAll(/\s+/g, ' '), steps: rows.map(({ detail }) => detail) }
    })
    db.close()
    if (process.env['JOBMILL_SHOW_PLANS'] !== undefined) console.dir(plans, { maxArrayLength: null })
    assert.isAbove(plans.length, 130)
    const scans = plans.filter(({ steps }) => steps.some((step) => GROWING.test(step)))
    assert.deepEqual(scans, [])
    const sorts = plans.filter(({ steps }) => steps.some((step) => step.includes('TEMP B-TREE FOR ORDER BY')))
    assert.deepEqual(sorts, [])
  })

  test('the index of quarantined jobs starts at the crash count of the runtime', () => {
    const sql = MIGRATIONS.map((migration) => migration.sql).join('')
    assert.include(sql, `crashes >= ${DEFAULTS.crashesUntilAlone}`)
    assert.include(sql, `crashes < ${DEFAULTS.crashesUntilAlone}`)
  })
})
