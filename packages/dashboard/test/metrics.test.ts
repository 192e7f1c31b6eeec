/** How the overview turns a series into charts and comparisons, without a browser. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { binsOf, highestIn, mergeLists, MOST_BINS, ratesIn } from '../src/metrics/bins.ts'
import { levelsIn, totalOf } from '../src/metrics/levels.ts'
import { doneByQueueLines, mostOf } from '../src/metrics/lines.ts'
import { paceFor, resolutionFor } from '../src/metrics/resolution.ts'
import { jobs, ratesLike } from '../src/metrics/units.ts'
import {
  changeOf,
  hourBefore,
  levelsAt,
  perSecondIn,
  recentOf,
  successIn,
} from '../src/pages/overview/metrics/compare.ts'
import { workersOf } from '../src/metrics/workers.ts'
import { wayOut } from '../src/pages/overview/problems/way-out.ts'
import type { Diagnostic, Queue, Series, Workers } from '../src/api/types.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** A full hour, long ago. */
const T = 500_000 * HOUR

type QueueSeries = Series['queues'][number]
type Point = QueueSeries['points'][number]
type Numbers = Partial<Point['counters']>

const NO_JOBS: Point['counters'] = {
  enqueued: 0,
  replaced: 0,
  duplicate: 0,
  started: 0,
  done: 0,
  retried: 0,
  dead: 0,
  cancelled: 0,
  snoozed: 0,
  throttled: 0,
  timedOut: 0,
  interrupted: 0,
  reaped: 0,
}

const NONE = { count: 0, p50: null, p95: null, p99: null }

function pointAt(at: number, counted: Numbers = {}, counts: Partial<Point['counts']> = {}): Point {
  const counters = { ...NO_JOBS, ...counted }
  return {
    at,
    counters,
    perSecond: counters,
    waiting: NONE,
    running: NONE,
    total: NONE,
    counts: { scheduled: null, ready: null, running: null, dead: null, oldestReadyMs: null, ...counts },
  }
}

function queueOf(queue: string, points: readonly Point[]): QueueSeries {
  const done = points.reduce((sum, { counters }) => sum + counters.done, 0)
  return { queue, all: pointAt(0, { done }), points }
}

const gauge = (value: number): { mean: number; most: number } => ({ mean: value, most: value })

const asked = (lengthMs: number, queues: number, agoMs = 0): string =>
  resolutionFor({ from: T - agoMs - lengthMs, to: T - agoMs, now: T, queues })

const queueSet = (name: string, more: Partial<Queue> = {}): Queue =>
  ({ name, workers: null, paused: false, ...more }) as Queue

const instance = (id: string, state: string): Workers['instances'][number] =>
  ({
    id,
    state,
    requested: null,
    queues: ['auto', 'set', 'paused'],
  }) as unknown as Workers['instances'][number]

const diagnostic = (check: string, what: Diagnostic['about']['what'], name: string | null): Diagnostic => ({
  // A server of another release may have other checks.
  check: check as Diagnostic['check'],
  level: 'warning',
  message: '',
  fix: '',
  about: { what, name },
})

const ways = (one: Diagnostic, queue?: Queue): [string, string | null] => {
  const { to, act } = wayOut(one, queue)
  return [to, act]
}

describe('bins', () => {
  test('start at full steps, are at most 120, and end with complete data', () => {
    const day = binsOf({ from: T, to: T + DAY, resolutionMs: MINUTE, now: T + 2 * DAY })
    expect(day).toMatchObject({ widthMs: 12 * MINUTE, until: T + DAY })
    expect(day.times).toHaveLength(120)
    const month = binsOf({ from: T, to: T + 30 * DAY, resolutionMs: HOUR, now: T + 30 * DAY })
    expect(month.widthMs).toBe(6 * HOUR)
    expect(month.times.length).toBeLessThanOrEqual(MOST_BINS)
    expect(month.times.every((at) => at % (6 * HOUR) === 0)).toBe(true)
  })

  test('omit one that has just started, and keep a long one with enough data', () => {
    const now = T + 5 * MINUTE + 4_000
    const fine = binsOf({ from: T, to: now, resolutionMs: 10_000, now })
    expect(fine.times.at(-1)).toBe(T + 5 * MINUTE - 10_000)
    const late = T + 3 * HOUR + 20 * MINUTE
    expect(binsOf({ from: T, to: late, resolutionMs: HOUR, now: late }).times.at(-1)).toBe(T + 3 * HOUR)
  })

  test('hold every job that was counted in them, whatever the window', () => {
    const counts = fc.array(fc.tuple(fc.nat(2_000), fc.nat(50)), { maxLength: 60 })
    const sizes = fc.constantFrom(10_000, MINUTE, HOUR)
    fc.assert(
      fc.property(counts, sizes, fc.integer({ min: 1, max: 2_000 }), (counted, resolutionMs, buckets) => {
        const to = T + buckets * resolutionMs
        const bins = binsOf({ from: T, to, resolutionMs, now: to + DAY })
        const points = counted.map(([bucket, n]) => ({ at: T + bucket * resolutionMs, n }))
        const rates = ratesIn(bins, points, ({ n }) => n)
        const [first = to] = bins.times
        const inside = points.filter(({ at }) => at >= first && at < to)
        const lasting = (at: number): number => Math.min(bins.widthMs, bins.until - at) / 1_000
        const total = rates.reduce((sum, rate, at) => sum + rate * lasting(bins.times[at] ?? 0), 0)
        expect(total).toBeCloseTo(inside.reduce((sum, { n }) => sum + n, 0))
        expect(bins.times.length).toBeLessThanOrEqual(MOST_BINS)
      }),
    )
  })

  test('are 0 for rates and nothing for percentiles where nothing happened', () => {
    const bins = binsOf({ from: T, to: T + 4 * MINUTE, resolutionMs: MINUTE, now: T + DAY })
    const points = [
      { at: T + MINUTE, n: 60 },
      { at: T + 9 * MINUTE, n: 1 },
    ]
    expect(ratesIn(bins, points, ({ n }) => n)).toEqual([0, 1, 0, 0])
    expect(highestIn(bins, points, ({ n }) => n)).toEqual([null, 60, null, null])
    const lists = [
      [null, 1],
      [null, 3],
    ]
    expect(mergeLists(lists, Math.max, 2)).toEqual([null, 3])
  })
})

test('a gauge holds until the next value, and is unknown when one is overdue', () => {
  const bins = binsOf({ from: T, to: T + 10 * MINUTE, resolutionMs: MINUTE, now: T + DAY })
  const level = (points: readonly { at: number; n: number }[]): (number | null)[] =>
    levelsIn({ bins, resolutionMs: MINUTE, points, level: ({ n }) => n })
  expect(level([{ at: T - 2 * MINUTE, n: 4 }]).slice(0, 6)).toEqual([4, 4, 4, 4, 4, null])
  const emptied = level([
    { at: T, n: 7 },
    { at: T + MINUTE, n: 0 },
  ])
  expect(emptied).toEqual([7, 0, 0, 0, 0, 0, 0, 0, 0, 0])
  expect(level([])).toEqual(Array.from({ length: 10 }, () => 0))
  const lists = [
    [1, 2],
    [1, null],
  ]
  expect(totalOf(lists, 2)).toEqual([2, null])
})

test('the busiest eight queues have a line of their own, the others share one', () => {
  const bins = binsOf({ from: T, to: T + MINUTE, resolutionMs: MINUTE, now: T + DAY })
  const queues = Array.from({ length: 11 }, (_, n) => queueOf(`q${n}`, [pointAt(T, { done: 60 * n })]))
  const lines = doneByQueueLines(bins, queues)
  expect(lines.map(({ name }) => name)).toEqual(['q10', 'q3', 'q4', 'q5', 'q6', 'q7', 'q8', 'q9', '3 others'])
  expect(lines.at(-1)?.values).toEqual([0 + 1 + 2])
  expect(mostOf(lines, true)).toBe(55)
  expect(mostOf(lines, false)).toBe(10)
})

test('a range is fetched in buckets that exist and are not too many', () => {
  expect(asked(HOUR, 3)).toBe('10s')
  expect(asked(HOUR, 40)).toBe('1m')
  expect(asked(5 * MINUTE, 3, 8 * HOUR)).toBe('1m')
  expect(asked(5 * MINUTE, 3, 8 * DAY)).toBe('1h')
  expect(asked(DAY, 3)).toBe('1m')
  expect(asked(DAY, 40)).toBe('1h')
  expect(asked(30 * DAY, 1)).toBe('1h')
  expect([5 * MINUTE, HOUR, DAY].map((to) => paceFor({ from: 0, to }))).toEqual([0, 5_000, 30_000])
})

test('a chart shows its rates in one unit', () => {
  expect([0, 0.5, 12_345].map(ratesLike(12_345))).toEqual(['0/s', '0.5/s', '12.3K/s'])
  expect([0, 0.01].map(ratesLike(0.02))).toEqual(['0/min', '0.6/min'])
  expect(ratesLike(0.001)(0.001)).toBe('3.6/h')
  expect([0, 0.04, 1, 12.4].map(jobs)).toEqual(['0 jobs', '0.04 jobs', '1 job', '12 jobs'])
})

describe('figures', () => {
  const now = recentOf(T + 2 * HOUR + 30_000)
  const before = hourBefore(now)
  const queues = [
    queueOf('a', [
      pointAt(before.from - MINUTE, { done: 999 }, { dead: gauge(3), oldestReadyMs: { mean: 1, most: 9 } }),
      pointAt(before.from, { done: 300 }),
      pointAt(now.from, { done: 270, retried: 20, dead: 10 }, { dead: gauge(50) }),
    ]),
    queueOf('b', [pointAt(before.from, {}, { dead: gauge(2) }), pointAt(now.from + MINUTE, { done: 270 })]),
  ]

  test('compare the last minutes with those of an hour ago', () => {
    expect(before).toEqual({ from: now.from - HOUR, to: now.from - HOUR + 5 * MINUTE })
    expect(perSecondIn(queues, 'done', now)).toBe(2)
    expect(perSecondIn(queues, 'done', before)).toBe(1)
    expect(successIn(queues, now)).toBeCloseTo(540 / 570)
    expect(successIn([], now)).toBeNull()
    expect(levelsAt(queues, 'dead', before)).toEqual([3, 2])
    expect(levelsAt(queues, 'oldestReadyMs', before)).toEqual([9])
    expect(levelsAt(queues, 'ready', before)).toBeNull()
  })

  test('describe a change, and whether it is good', () => {
    const words = { format: String, upIs: 'worse' } as const
    expect(changeOf(5, 3, words)).toEqual({ direction: 'up', words: '+2', verdict: 'worse' })
    expect(changeOf(1, 3, words)).toEqual({ direction: 'down', words: '−2', verdict: 'better' })
    expect(changeOf(3, 3, words)).toEqual({ direction: 'same', words: 'no change', verdict: null })
    expect(changeOf(102, 100, { ...words, noise: 0.05 })?.direction).toBe('same')
    expect(changeOf(5, 3, { ...words, upIs: null })?.verdict).toBeNull()
    expect(changeOf(5, null, words)).toBeNull()
  })

  test('count the workers of live processes: assigned ones and defaults', () => {
    const workers = workersOf(
      [queueSet('auto'), queueSet('set', { workers: 5 }), queueSet('paused', { paused: true })],
      {
        instances: [instance('one', 'alive'), instance('two', 'lost')],
        slots: [
          { instance: 'one', queue: 'set', workers: 3 },
          { instance: 'two', queue: 'set', workers: 2 },
        ],
      },
    )
    expect(workers).toBe(13)
  })
})

test('every diagnostic has a link, and an action where one helps', () => {
  const mail = { name: 'a/b', paused: true, coolingMs: 500 } as Queue
  expect(ways(diagnostic('paused', 'queue', 'a/b'), mail)).toEqual(['/queues#a%2Fb', 'resume'])
  expect(ways(diagnostic('cooling', 'queue', 'a/b'), mail)).toEqual(['/queues#a%2Fb', 'clear'])
  expect(ways(diagnostic('paused', 'queue', 'a/b'), { ...mail, paused: false })).toEqual([
    '/queues#a%2Fb',
    null,
  ])
  expect(ways(diagnostic('settings', 'queue', 'a/b'), mail)).toEqual(['/queues#a%2Fb', null])
  expect(ways(diagnostic('dead', 'queue', 'a/b'))).toEqual(['/errors?queue=a%2Fb', null])
  expect(ways(diagnostic('waiting', 'queue', 'a/b'))).toEqual(['/jobs?queue=a%2Fb&state=ready', null])
  expect(ways(diagnostic('served', 'kind', 'x'))).toEqual(['/workers', null])
  expect(ways(diagnostic('schedules', 'schedule', 'a b'))).toEqual(['/schedules/a%20b', null])
  expect(ways(diagnostic('horizon', 'database', null))).toEqual(['/system', null])
})
