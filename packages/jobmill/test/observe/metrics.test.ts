// Which events are counted, for which time, and what is left of them after hours without a write.
import { describe, expect, test } from 'vitest'
import type { EventTable, EventType } from '../../src/job/events.ts'
import { mergeData, type MetricData } from '../../src/job/metric-data.ts'
import { createMetrics } from '../../src/observe/metrics.ts'
import { ATTEMPT_ENDS, COUNTERS } from '../../src/observe/tally.ts'
import { aClock, attemptIn, finished, histogramOf, START_AT, started } from './bench.ts'

type AnyEvent = { [T in EventType]: readonly [T, EventTable[T]] }[EventType]

const q = attemptIn('q')
const ref = { id: q.id, kind: q.kind, queue: 'q' }
const reapedJobs = (['ready', 'dead', 'cancelled'] as const).map((state) => ({ ...ref, state }))

const COUNTED: readonly (readonly [AnyEvent, MetricData])[] = [
  [['enqueued', { ...ref, outcome: 'enqueued' }], { counters: { enqueued: 1 } }],
  [['enqueued', { ...ref, outcome: 'replaced' }], { counters: { replaced: 1 } }],
  [['duplicate', ref], { counters: { duplicate: 1 } }],
  [['started', started('q', 12)], { counters: { started: 1 }, histograms: { waiting: histogramOf([12]) } }],
  [
    ['finished', finished('q', 30, 90)],
    { counters: { done: 1 }, histograms: { running: histogramOf([30]), total: histogramOf([90]) } },
  ],
  [
    ['retried', { ...q, ranMs: 3, delayMs: 9, error: 'x' }],
    { counters: { retried: 1 }, histograms: { running: histogramOf([3]) } },
  ],
  [['step-recorded', { ...q, step: 's', ranMs: 3 }], { counters: { stepsRecorded: 1 } }],
  [['step-failed', { ...q, step: 's', ranMs: 3, error: 'x' }], { counters: { stepsFailed: 1 } }],
  [['parked', { ...q, ranMs: 3 }], { counters: { parked: 1 }, histograms: { running: histogramOf([3]) } }],
  [
    ['snoozed', { ...q, ranMs: 3, delayMs: 9 }],
    { counters: { snoozed: 1 }, histograms: { running: histogramOf([3]) } },
  ],
  [
    ['throttled', { ...q, ranMs: 3, retryAfterMs: null }],
    { counters: { throttled: 1 }, histograms: { running: histogramOf([3]) } },
  ],
  [['timed-out', { ...q, ranMs: 3 }], { counters: { timedOut: 1 } }],
  [
    ['cancelled', { ...q, ranMs: 3, reason: 'x' }],
    { counters: { cancelled: 1 }, histograms: { running: histogramOf([3]) } },
  ],
  [['cancelled', { ...q, reason: 'it waited' }], { counters: { cancelled: 1 } }],
  [
    ['dead', { ...q, ranMs: 3, error: 'x' }],
    { counters: { dead: 1 }, histograms: { running: histogramOf([3]) } },
  ],
  [['dead', { ...q, error: 'crashed' }], { counters: { dead: 1 } }],
  [
    ['interrupted', { ...q, ranMs: 3, why: 'shutdown' }],
    { counters: { interrupted: 1 }, histograms: { running: histogramOf([3]) } },
  ],
  [['interrupted', { ...q, why: 'shutdown' }], { counters: { interrupted: 1 } }],
  [['reaped', { instances: ['i'], jobs: reapedJobs }], { counters: { reaped: 3, cancelled: 1 } }],
]

/** The queue, and also the kind if the event is the end of an attempt. */
function scopesOf([type, event]: AnyEvent, data: MetricData): { scope: string; data: MetricData }[] {
  const queue = { scope: 'queue q', data }
  const end = ATTEMPT_ENDS.find((name) => data.counters?.[name] !== undefined)
  const isAttempt = 'ranMs' in event || type === 'interrupted'
  if (!isAttempt || end === undefined || type === 'timed-out') return [queue]
  const running = data.histograms?.['running']
  const own = { counters: { [end]: 1 }, ...(running !== undefined && { histograms: { running } }) }
  return [queue, { scope: 'kind work', data: own }]
}

describe('metrics', () => {
  test.each(COUNTED)('count %j', (event, data) => {
    const counted = createMetrics(aClock())
    const [type, fields] = event
    counted.count(type, fields)
    const expected = scopesOf(event, data).map((one) => ({ at: 0, bucketAt: START_AT, ...one }))
    expect(counted.take(10)).toEqual(expected)
    expect(counted.isEmpty()).toBe(true)
  })

  test('count each ended attempt of a kind once, in whatever queue, and a timed-out one as timed out', () => {
    const counted = createMetrics(aClock())
    const late = attemptIn('r')
    counted.count('finished', finished('q', 5))
    counted.count('retried', { ...late, ranMs: 7, delayMs: 9, error: 'x' })
    counted.count('timed-out', { ...late, ranMs: 9 })
    counted.count('dead', { ...late, ranMs: 9, error: 'x' })
    counted.count('dead', { ...q, error: 'crashed' })
    counted.count('cancelled', { ...q, reason: 'it waited' })
    expect(counted.take(10).filter(({ scope }) => scope.startsWith('kind '))).toMatchObject([
      {
        scope: 'kind work',
        data: {
          counters: { done: 1, retried: 1, timedOut: 1 },
          histograms: { running: histogramOf([5, 7, 9]) },
        },
      },
    ])
  })

  test('cover every counter with an event', () => {
    const names = COUNTED.flatMap(([, { counters = {} }]) => Object.keys(counters))
    expect(new Set(names)).toEqual(new Set(COUNTERS))
  })

  test('ignore events without a queue metric, and stay empty then', () => {
    const counted = createMetrics(aClock())
    counted.count('queue-changed', { queue: 'q' })
    counted.count('progress', { ...q, value: 1 })
    counted.count('released', q)
    expect([counted.isEmpty(), counted.take(10)]).toEqual([true, []])
  })

  test('are grouped by queue and bucket, each with the middle of its time, oldest first', () => {
    const clock = aClock()
    const counted = createMetrics(clock)
    counted.count('started', started('a'))
    clock.advance(4_000)
    counted.count('started', started('a'))
    counted.count('started', started('b'))
    clock.advance(5_999)
    counted.count('started', started('b'))
    clock.advance(1)
    counted.count('started', started('a'))
    const recording = counted
      .take(10)
      .map(({ scope, at, bucketAt, data }) => [scope, at, bucketAt, data.counters])
    expect(recording).toEqual([
      ['queue a', 4_999.5, START_AT, { started: 2 }],
      ['queue b', 4_999.5, START_AT, { started: 2 }],
      ['queue a', 10_000, START_AT + 10_000, { started: 1 }],
    ])
  })

  test('start their buckets by the wall clock', () => {
    const clock = aClock()
    clock.advance(7_000)
    clock.step(2_000)
    const counted = createMetrics(clock)
    counted.count('started', started('a'))
    clock.advance(999)
    counted.count('started', started('a'))
    clock.advance(1)
    counted.count('started', started('a'))
    expect(counted.take(10).map(({ bucketAt, data }) => [bucketAt - START_AT, data.counters])).toEqual([
      [0, { started: 2 }],
      [10_000, { started: 1 }],
    ])
  })

  test('are taken once, at most as many as requested', () => {
    const counted = createMetrics(aClock())
    for (const queue of ['a', 'b', 'c']) counted.count('started', started(queue))
    expect(counted.take(2).map(({ scope }) => scope)).toEqual(['queue a', 'queue b'])
    counted.count('started', started('a'))
    expect(counted.take(2).map(({ scope }) => scope)).toEqual(['queue c', 'queue a'])
    expect(counted.take(2)).toEqual([])
  })

  test('of a kind have its attempts by version, if this process has one', () => {
    const counted = createMetrics(aClock(), { version: '2.15.0' })
    counted.count('finished', finished('q', 30, 90))
    counted.count('retried', { ...q, ranMs: 3, delayMs: 9, error: 'x' })
    counted.count('snoozed', { ...q, ranMs: 3, delayMs: 9 })
    expect(counted.take(9).map(({ scope, data }) => [scope, data.counters])).toEqual([
      ['queue q', { done: 1, retried: 1, snoozed: 1 }],
      [`kind ${q.kind}`, { done: 1, retried: 1, snoozed: 1, 'attempts 2.15.0': 2, 'failed 2.15.0': 1 }],
    ])
    // An attempt that says nothing about success.
    counted.count('snoozed', { ...q, ranMs: 3, delayMs: 9 })
    expect(counted.take(9)[1]?.data.counters).toEqual({ snoozed: 1 })
  })

  test('that wait very long are merged by minute and then by hour, without loss', () => {
    const clock = aClock()
    const counted = createMetrics(clock, { mostWaiting: 100 })
    let count = 0
    for (; count < 5_000; count += 1) {
      counted.count('started', started('a', count))
      clock.advance(10_000)
    }
    const recording = counted.take(1_000)
    expect(recording.length).toBeLessThanOrEqual(100)
    const all = recording.reduce<MetricData>((sum, { data }) => mergeData(sum, data), {})
    expect(all).toEqual({
      counters: { started: count },
      histograms: { waiting: histogramOf(Array.from({ length: count }, (_, ms) => ms)) },
    })
    // Merged metrics belong to one hour and have a time inside it.
    const hours = recording.map(({ at, bucketAt }) => {
      const hour = Math.floor(bucketAt / 3_600_000)
      expect(Math.floor((START_AT + at) / 3_600_000)).toBe(hour)
      return hour
    })
    expect(new Set(hours).size).toBe(14)
  })

  test('add up to totals that survive take(), with exact sums of durations', () => {
    const clock = aClock()
    const counted = createMetrics(clock)
    counted.count('started', started('a', 12))
    counted.take(10)
    counted.count('started', started('a', 30))
    clock.advance(10_000)
    counted.count('started', started('a', -5))
    counted.count('finished', finished('b', 7, 9))
    const { a, b } = Object.fromEntries(counted.totals())
    expect(a?.counters).toEqual({ started: 3 })
    expect([a?.histograms.waiting, a?.sums]).toEqual([histogramOf([12, 30, -5]), { waiting: 42 }])
    expect([b?.counters, b?.sums]).toEqual([{ done: 1 }, { running: 7, total: 9 }])
    // Reading adds nothing.
    expect(Object.fromEntries(counted.totals()).a).toEqual(a)
  })

  test('count each ended attempt once, even one that timed out', () => {
    const counted = createMetrics(aClock())
    const late = attemptIn('q')
    counted.count('timed-out', { ...late, ranMs: 3 })
    counted.count('retried', { ...late, ranMs: 3, delayMs: 9, error: 'x' })
    counted.count('retried', { ...q, ranMs: 3, delayMs: 9, error: 'x' })
    counted.count('timed-out', { ...late, ranMs: 3 })
    counted.count('dead', { ...late, ranMs: 3, error: 'x' })
    counted.count('interrupted', { ...q, why: 'shutdown' })
    counted.count('cancelled', { ...q, reason: 'it waited' })
    counted.count('dead', { ...q, error: 'crashed' })
    counted.count('finished', finished('q'))
    expect(counted.totals().get('q')?.ended).toEqual({ timedOut: 2, retried: 1, interrupted: 1, done: 1 })
  })
})
