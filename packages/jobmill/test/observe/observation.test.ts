// What `metrics` and `timeline` request from the store, and how they present its answers.
import { describe, expect, test } from 'vitest'
import { boundOf, bucketOf } from '../../src/job/metric-data.ts'
import { observation } from '../../src/runtime/report/observation.ts'
import type { MetricQuery, MetricRecord } from '../../src/store/types/metrics.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aClock, histogramOf, START_AT } from './bench.ts'

const HOUR = 3_600_000
const INSTANCE = '00000000-0000-7000-8000-000000000001'

function aReader(records: readonly MetricRecord[] = []) {
  const clock = aClock()
  // Far enough from the start of the fake clock for windows of days.
  clock.advance(1_500)
  const asked: MetricQuery[] = []
  const store = {
    metrics: {
      read: async (query: MetricQuery) => (asked.push(query), records),
      timeline: async () => [],
    },
  } as unknown as FullStore
  return { ...observation({ opened: async () => store, platform: clock }), asked, now: START_AT + 1_500 }
}

function bucket(at: number, done: number, waits: readonly number[]): MetricRecord {
  return {
    scope: 'queue q',
    at,
    data: { counters: { done }, histograms: { waiting: histogramOf(waits) } },
  }
}

/** The value as a percentile shows it. */
function p50Of(ms: number): number {
  return boundOf(bucketOf(ms))
}

describe('metrics', () => {
  test('returns the last hour of everything by default, up to now', async () => {
    const { metrics, asked, now } = aReader()
    expect(await metrics()).toEqual({
      from: now - HOUR - 1_500,
      to: null,
      resolutionMs: 10_000,
      queues: [],
      instances: [],
      limits: [],
      kinds: [],
    })
    const [query] = asked
    // Without the kinds, of which there may be many more.
    expect(query).toEqual({
      types: ['queue', 'instance', 'limit'],
      resolution: 10_000,
      from: START_AT - HOUR,
      before: 7_258_118_400_000,
    })
  })

  test('returns only the named queues, instances, limits and kinds', async () => {
    const { metrics, asked } = aReader()
    await metrics({ queues: ['a', 'b'] })
    await metrics({ queues: ['a'], instances: [INSTANCE] })
    await metrics({ limits: ['smtp'] })
    await metrics({ instances: [] })
    await metrics({ kinds: ['work'] })
    expect(asked.map(({ scopes }) => scopes)).toEqual([
      ['queue a', 'queue b'],
      ['queue a', `instance ${INSTANCE}`],
      ['limit smtp'],
      [],
      ['kind work'],
    ])
  })

  test.each([
    [{ hours: 1, ago: 0 }, 10_000],
    [{ hours: 1, ago: 4.9 }, 10_000],
    [{ hours: 1, ago: 5.1 }, 60_000],
    [{ hours: 1.01, ago: 0 }, 60_000],
    [{ hours: 48, ago: 0 }, 60_000],
    [{ hours: 48.1, ago: 0 }, 3_600_000],
    [{ hours: 1, ago: 24 * 7 }, 3_600_000],
  ])(
    'of %j hours uses the finest suitable resolution that is still stored: %i ms',
    async ({ hours, ago }, ms) => {
      const { metrics, now } = aReader()
      const to = now - ago * HOUR
      const answer = await metrics({ from: to - hours * HOUR, to })
      expect(answer.resolutionMs).toBe(ms)
      expect(answer.from % ms).toBe(0)
      expect(to - hours * HOUR - answer.from).toBeLessThan(ms)
    },
  )

  test('accepts instants and resolutions in the usual formats, and refuses others with the field', async () => {
    const { metrics, asked } = aReader()
    await metrics({ from: '2001-09-09T01:00:00Z', to: new Date(START_AT), resolution: '1m' })
    expect(asked).toMatchObject([
      { from: Date.parse('2001-09-09T01:00:00Z'), before: START_AT, resolution: 60_000 },
    ])
    await expect(metrics({ resolution: '5s' })).rejects.toThrow('resolution: is not a supported resolution')
    await expect(metrics({ from: START_AT, to: START_AT })).rejects.toThrow('to: must be after "from"')
    await expect(metrics({ queues: ['a b'] })).rejects.toThrow('queues[0]')
    await expect(metrics({ instances: ['x'] })).rejects.toThrow('instances[0]')
    await expect(metrics({ queue: ['a'] } as never)).rejects.toThrow('Did you mean "queues"?')
  })

  test('merges buckets and processes, and returns counters, rates and percentiles per bucket and in total', async () => {
    // The second bucket twice, as a store may return what is not rolled up yet; it is open, and 1.5 s old.
    const { metrics } = aReader([
      bucket(START_AT - 10_000, 20, [1, 1, 1, 100]),
      bucket(START_AT, 2, [9_000]),
      bucket(START_AT, 1, [1]),
    ])
    const { queues } = await metrics()
    const [q] = queues
    expect(queues.map(({ queue }) => queue)).toEqual(['q'])
    expect(
      q?.points.map((point) => [point.at - START_AT, point.counters.done, point.perSecond.done]),
    ).toEqual([
      [-10_000, 20, 2],
      [0, 3, 2],
    ])
    expect(q?.points.map(({ waiting }) => waiting)).toEqual([
      { count: 4, p50: p50Of(1), p95: p50Of(100), p99: p50Of(100) },
      { count: 2, p50: p50Of(1), p95: p50Of(9_000), p99: p50Of(9_000) },
    ])
    expect(q?.all.waiting).toEqual({ count: 6, p50: p50Of(1), p95: p50Of(9_000), p99: p50Of(9_000) })
    expect(q?.all.running).toEqual({ count: 0, p50: null, p95: null, p99: null })
    expect(q?.all.counters).toMatchObject({ done: 23, enqueued: 0, reaped: 0 })
    expect(q?.all.perSecond.done).toBeCloseTo(23 / (3_600 + 1.5), 10)
  })

  test('returns resources and store timings of instances', async () => {
    const sample = (at: number, cpu: number): MetricRecord => ({
      scope: `instance ${INSTANCE}`,
      at,
      data: {
        counters: { 'store.failures': 1, eventsDropped: 2 },
        gauges: { cpu: { sum: cpu, count: 1, most: cpu } },
        histograms: { 'store.heartbeat': histogramOf([2]) },
      },
    })
    const { metrics } = aReader([sample(START_AT - 10_000, 0.5), sample(START_AT, 1.5)])
    const { instances } = await metrics()
    const [one] = instances
    expect([one?.instance, one?.points.map(({ cpu }) => cpu?.mean)]).toEqual([INSTANCE, [0.5, 1.5]])
    expect(one?.all).toMatchObject({
      cpu: { mean: 1, most: 1.5 },
      rssBytes: null,
      store: { failures: 2, heartbeat: { count: 2 }, read: { count: 0, p50: null } },
      eventsDropped: 4,
    })
  })
})

describe('timeline', () => {
  test('refuses foreign cursors and unknown options', async () => {
    const { timeline } = aReader()
    await expect(timeline({ cursor: 'abc' })).rejects.toThrow('is not a cursor of this listing')
    await expect(timeline({ type: ['a'] } as never)).rejects.toThrow('Did you mean "types"?')
    expect(await timeline()).toEqual({ events: [], next: null })
  })
})
