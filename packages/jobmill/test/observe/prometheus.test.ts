// The Prometheus text of whole mills on each store: a strict parser accepts it, totals never decrease, and it
// answers whatever the store does.
import { readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, type JobContext, jobmill } from '../../src/index.ts'
import { resourceFamilies } from '../../src/observe/prometheus/of-store.ts'
import { exposition, histogramSamples } from '../../src/observe/prometheus/text.ts'
import { sqlite } from '../../src/sqlite.ts'
import { faultyStore, testPlatform } from '../../src/testing/index.ts'
import { subjects } from '../runtime/stores.ts'
import { histogramOf, START_AT } from './bench.ts'
import { cumulative, fallen, readExposition, type ReadFamily, valueOf } from './exposition.ts'

type How = 'done' | 'failed' | 'timed out'

const work = defineJob({
  kind: 'work',
  maxAttempts: 2,
  async run({ payload: { how }, signal }: JobContext<{ how: How }>) {
    if (how === 'failed') throw new Error('x')
    if (how === 'done') return
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  },
})

const done = { how: 'done' } as const

/** The rows of docs/reference/metrics.md: name, type, labels and the help of the code. */
const PAGE = readFileSync(new URL('../../../../docs/reference/metrics.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('`', '').trim()),
  )

const OF_RESOURCES = /^jobmill_(?:database|pool|server)_/

function rowOf({ name, type, help, samples }: ReadFamily): string[] {
  const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)))
  labels.delete('le')
  return [name, type, [...labels].join(', '), help]
}

/** Pairs of name and value, for a queue. */
function outcomes(families: ReadonlyMap<string, ReadFamily>, queue: string): Record<string, number> {
  const { samples = [] } = families.get('jobmill_attempts_finished_total') ?? {}
  const own = samples.filter(({ labels, value }) => labels['queue'] === queue && value > 0)
  return Object.fromEntries(own.map(({ labels, value }) => [labels['outcome'] ?? '', value] as const))
}

test('names with any characters keep each sample on its line and each label in its quotes', () => {
  const store = 'sqlite C:\\jobs "new"\n.db \ud800'
  const family = {
    name: 'jobmill_info',
    type: 'gauge',
    help: 'a \\ and\na line',
    samples: [{ labels: { store }, value: 1 }],
  } as const
  const text = exposition([family])
  const families = readExposition(text)
  expect(families.get('jobmill_info')?.samples[0]?.labels['store']).toBe(store.toWellFormed())
  expect(text.split('\n')).toHaveLength(4)
})

test('durations are counted below their bounds, to within 4%, and their sum is exact', () => {
  const times = [0, 0.9, 0.99, 1.1, 2.4, 900, 1_100, 1_790_000, 9_999_999]
  const samples = histogramSamples({ queue: 'q' }, histogramOf(times), 1_234)
  const at = (le: string) => samples.find(({ labels }) => labels?.['le'] === le)?.value
  expect(['0.001', '0.0025', '0.5', '1', '2.5', '300', '1800', '+Inf'].map(at)).toEqual([
    // 0.99 ms may be anything up to 1.03.
    2, 5, 5, 6, 7, 7, 7, 9,
  ])
  expect(samples.slice(-2).map(({ suffix, value }) => [suffix, value])).toEqual([
    ['_sum', 1.234],
    ['_count', 9],
  ])
})

test('A every database gauge is in docs/reference/metrics.md, and unknown ones are left out', async () => {
  const disk = { freeBytes: 1, totalBytes: 2 }
  const pool = { open: 3, busy: 2, waiting: 0 }
  const all = { sizeBytes: 9, walBytes: 4, disk, pool, server: { connections: 5, most: 100 } }
  const families = readExposition(exposition(resourceFamilies(all)))
  expect([...families.values()].map(rowOf)).toEqual(PAGE.filter(([name = '']) => OF_RESOURCES.test(name)))
  expect(valueOf(families, 'jobmill_pool_connections_busy', {})).toBe(2)
  expect(exposition(resourceFamilies(null)).trim()).toBe('')

  const mill = jobmill({ store: sqlite(freshFile()), log: 'silent' })
  onTestFinished(async () => void (await mill.stop()))
  const names = [...readExposition(await mill.prometheus()).keys()].filter((name) => OF_RESOURCES.test(name))
  const ofAFile = ['size_bytes', 'wal_bytes', 'disk_free_bytes', 'disk_total_bytes']
  expect(names).toEqual(ofAFile.map((name) => `jobmill_database_${name}`))
  expect(await mill.resources()).toMatchObject({ database: { pool: null }, process: { loopLagMs: null } })
})

const isOfMill = ([name = '']: readonly string[]): boolean => !OF_RESOURCES.test(name)

describe.each(subjects)('a mill on $name reports to Prometheus', ({ name, mill: aMill }) => {
  const test = inTurns(name, subjects)
  test('its counters, and the gauges of queues, limits, instances and duties', async () => {
    const mill = await aMill({
      jobs: [work],
      queues: { default: { workers: 4 }, brief: { retain: { done: '1s' } } },
      serve: ['default', 'brief'],
      env: { JOBMILL_WORKER_PREFIX: 'mail', JOBMILL_WORKER_VERSION: '7' },
      limits: { smtp: { rate: 5, per: '1s' } },
      platform: testPlatform({ startAt: START_AT }),
    })
    mill.gauge({ name: 'app_depth', help: 'Of the application.', read: () => 1 })
    for (const how of ['done', 'done', 'failed', 'timed out'] as const)
      await mill.enqueue(work, { how }, { timeout: '1s' })
    await mill.enqueue(work, done, { queue: 'brief' })
    await mill.enqueue('nobody', null, { queue: 'far' })
    await mill.clock.advance('30s')
    await mill.limits.drain('smtp', { retryAfter: '10s' })
    await mill.pause('far')
    await mill.runDuty('retain')
    const families = readExposition(await mill.prometheus())
    const rows = [...families.values()].filter(({ name }) => name.startsWith('jobmill_')).map(rowOf)
    // Resource metrics differ between stores; the test above has all of them.
    expect(rows.filter(isOfMill)).toEqual(PAGE.filter(isOfMill))

    const at = (name: string, labels = {}) => valueOf(families, `jobmill_${name}`, labels)
    const queue = 'default'
    expect(outcomes(families, queue)).toEqual({ done: 2, retried: 1, dead: 1, timed_out: 2 })
    expect(at('jobs_claimed_total', { queue })).toBe(6)
    expect([at('retries_total', { queue }), at('jobs_dead_total', { queue })]).toEqual([2, 2])
    expect([at('jobs_enqueued_total', { queue }), at('jobs_enqueued_total', { queue: 'far' })]).toEqual([
      4, 1,
    ])
    expect([at('jobs', { queue, state: 'done' }), at('jobs', { queue, state: 'dead' })]).toEqual([2, 2])
    expect(at('job_run_seconds_count', { queue })).toBe(6)
    // Two attempts reached their timeout of a second; the bound may be 4% higher.
    expect(at('job_run_seconds_bucket', { queue, le: '0.5' })).toBe(4)
    expect(at('job_run_seconds_bucket', { queue, le: '2.5' })).toBe(6)
    expect(at('job_run_seconds_sum', { queue })).toBeCloseTo(2, 1)
    expect(at('oldest_ready_seconds', { queue: 'far' })).toBeGreaterThanOrEqual(30)
    expect([at('queue_paused', { queue }), at('queue_paused', { queue: 'far' })]).toEqual([0, 1])
    expect([at('queue_workers', { queue }), at('queue_workers', { queue: 'far' })]).toEqual([4, undefined])
    expect([at('workers', { queue }), at('workers_busy', { queue })]).toEqual([4, 0])
    expect(at('instances', { state: 'alive' })).toBe(1)
    expect([at('limit_tokens', { limit: 'smtp' }), at('limit_drained_seconds', { limit: 'smtp' })]).toEqual([
      0, 10,
    ])
    // By state, without their sum.
    expect(at('swept_rows_total', { outcome: 'done' })).toBe(1)
    expect(at('swept_rows_total', { outcome: 'jobs' })).toBeUndefined()
    expect(at('duty_runs_total', { duty: 'flush' })).toBeGreaterThan(2)
    expect(at('duty_last_success_age_seconds', { duty: 'retain' })).toBe(0)
    // No job requests this duty, and it has not failed.
    expect(at('duty_last_success_age_seconds', { duty: 'stage' })).toBeUndefined()
    expect([at('event_loop_lag_seconds'), at('event_loop_lag_max_seconds')]).toEqual([0.001, 0.005])
    expect(at('store_call_seconds_count', { verb: 'instances.renew' })).toBeGreaterThan(20)
    expect(at('store_up')).toBe(1)
    expect(families.get('jobmill_info')?.samples[0]?.labels).toEqual({
      version: '7',
      instance: mill.instance.id,
      label: mill.instance.label,
      store: mill.store.name,
    })
  })

  test('totals that never decrease, across flushes, new buckets and a stop', async () => {
    const mill = await aMill({ jobs: [work], platform: testPlatform({ startAt: START_AT }) })
    let before = new Map<string, number>()
    const look = async (): Promise<ReadonlyMap<string, ReadFamily>> => {
      const families = readExposition(await mill.prometheus())
      const now = cumulative(families)
      expect(fallen(before, now)).toEqual([])
      before = now
      return families
    }
    for (const [round, how] of (['done', 'failed', 'done', 'done'] as const).entries()) {
      await mill.enqueue(work, { how })
      await mill.drain()
      // Read before the next flush, and again at a time that may be after one or in another bucket.
      await look()
      await mill.clock.advance(`${2 + 3 * round}s`)
      await look()
    }
    await mill.stop()
    const families = await look()
    expect(outcomes(families, 'default')).toEqual({ done: 3, retried: 1, dead: 1 })
    // The store is closed, and the process still knows what it did.
    expect(valueOf(families, 'jobmill_store_up')).toBe(0)
    expect(families.has('jobmill_jobs')).toBe(false)
  })

  test('its own metrics if the store fails or never answers', async () => {
    const faults: { store?: ReturnType<typeof faultyStore> } = {}
    const mill = await aMill({ jobs: [work] }, (plain) => (faults.store = faultyStore(plain)))
    await mill.enqueue(work, done)
    await mill.drain()
    faults.store?.fail('counts', { times: 1 })
    const some = readExposition(await mill.prometheus())
    expect([
      valueOf(some, 'jobmill_store_up'),
      some.has('jobmill_jobs'),
      some.has('jobmill_queue_paused'),
    ]).toEqual([0, false, true])
    expect(valueOf(some, 'jobmill_store_failures_total')).toBe(1)

    faults.store?.hold('limits.list')
    const late = mill.prometheus()
    const shared = mill.prometheus()
    await mill.clock.advance('6s')
    const families = readExposition(await late)
    expect([valueOf(families, 'jobmill_store_up'), families.has('jobmill_limit_tokens')]).toEqual([0, false])
    expect(outcomes(families, 'default')).toEqual({ done: 1 })
    expect(valueOf(readExposition(await shared), 'jobmill_store_up')).toBe(0)
    faults.store?.clear()
    expect(valueOf(readExposition(await mill.prometheus()), 'jobmill_store_up')).toBe(1)
  })
})
