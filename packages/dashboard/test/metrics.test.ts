/** How the overview turns a series into charts and comparisons, without a browser. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { binsOf, highestIn, mergeLists, MOST_BINS, ratesIn } from '../src/metrics/bins.ts'
import { levelsIn, totalOf } from '../src/metrics/levels.ts'
import { doneByQueueLines, failureLines, mostOf } from '../src/metrics/lines.ts'
import { paceFor, widthFor } from '../src/metrics/resolution.ts'
import { jobs, ratesLike } from '../src/metrics/units.ts'
import {
  changeOf,
  hourBefore,
  levelsAt,
  perSecondIn,
  recentOf,
  successIn,
} from '../src/pages/overview/metrics/compare.ts'
import { workersOf, workersOn } from '../src/metrics/workers.ts'
import { wayOut } from '../src/pages/overview/problems/way-out.ts'
import {
  type ChartPoint,
  chartsOf,
  type KnownCharts,
  nextFrom,
  type QueuePoints,
  withNewer,
} from '../src/api/charts/charts.ts'
import { isDue, atMostEvery } from '../src/api/live/pace.ts'
import type { Diagnostic, Queue, Workers } from '../src/api/types.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** A full hour, long ago. */
const T = 500_000 * HOUR

type Point = ChartPoint
type Numbers = Partial<Point['counters']>

const NO_JOBS: Point['counters'] = { enqueued: 0, done: 0, retried: 0, dead: 0, cancelled: 0 }

const NONE = { p50: null, p95: null, p99: null }

function pointAt(at: number, counted: Numbers = {}, counts: Partial<Point['counts']> = {}): Point {
  const counters = { ...NO_JOBS, ...counted }
  return {
    at,
    counters,
    waiting: NONE,
    running: NONE,
    counts: { scheduled: null, ready: null, running: null, dead: null, oldestReadyMs: null, ...counts },
  }
}

const queueOf = (queue: string, points: readonly Point[]): QueuePoints => ({ queue, points })

const asked = (lengthMs: number, queues: number, agoMs = 0): number =>
  widthFor({ from: T - agoMs - lengthMs, to: T - agoMs, now: T, queues })

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
  test('start at full steps, are at most 360, and end with complete data', () => {
    const day = binsOf({ from: T, to: T + DAY, resolutionMs: MINUTE, now: T + 2 * DAY })
    expect(day).toMatchObject({ widthMs: 5 * MINUTE, until: T + DAY })
    expect(day.times).toHaveLength(288)
    const month = binsOf({ from: T, to: T + 30 * DAY, resolutionMs: HOUR, now: T + 30 * DAY })
    expect(month.widthMs).toBe(2 * HOUR)
    expect(month.times.length).toBeLessThanOrEqual(MOST_BINS)
    expect(month.times.every((at) => at % (2 * HOUR) === 0)).toBe(true)
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

test('the busiest five queues have a line of their own, the others share one', () => {
  const bins = binsOf({ from: T, to: T + MINUTE, resolutionMs: MINUTE, now: T + DAY })
  const queues = Array.from({ length: 11 }, (_, n) => queueOf(`q${n}`, [pointAt(T, { done: 60 * n })]))
  const lines = doneByQueueLines(bins, queues)
  expect(lines.map(({ name }) => name)).toEqual(['q10', 'q6', 'q7', 'q8', 'q9', '6 others'])
  expect(lines.at(-1)?.values).toEqual([0 + 1 + 2 + 3 + 4 + 5])
  expect(mostOf(lines, true)).toBe(55)
  expect(mostOf(lines, false)).toBe(15)
})

test('the failure rate is a share of the attempts, and unknown where there were none', () => {
  const bins = binsOf({ from: T, to: T + 3 * MINUTE, resolutionMs: MINUTE, now: T + DAY })
  const queues = [
    queueOf('a', [pointAt(T, { done: 99, retried: 1 }), pointAt(T + MINUTE, { dead: 3 })]),
    queueOf('b', [pointAt(T, { done: 100 })]),
  ]
  expect(failureLines(bins, queues)[0]?.values).toEqual([0.005, 1, null])
})

test('a range has bins that show ten minutes, and that the store still has and can read', () => {
  expect(asked(15 * MINUTE, 3)).toBe(10_000)
  expect(asked(HOUR, 11)).toBe(30_000)
  expect(asked(6 * HOUR, 11)).toBe(2 * MINUTE)
  expect(asked(DAY, 11)).toBe(5 * MINUTE)
  expect(asked(DAY, 150)).toBe(5 * MINUTE)
  expect(asked(7 * DAY, 1)).toBe(30 * MINUTE)
  expect(asked(7 * DAY, 24)).toBe(30 * MINUTE)
  expect(asked(30 * DAY, 11)).toBe(3 * HOUR)
  // Too many buckets of five minutes, of all queues together.
  expect(asked(7 * DAY, 25)).toBe(HOUR)
  // The store keeps buckets of 10 s for 6 hours, and of one and five minutes for 7 days.
  expect(asked(5 * MINUTE, 3, 8 * HOUR)).toBe(MINUTE)
  expect(asked(5 * MINUTE, 3, 8 * DAY)).toBe(HOUR)
  expect([10_000, 30_000, 5 * MINUTE].map(paceFor)).toEqual([5_000, 15_000, MINUTE])
})

test('a query is refreshed by the page only when its data may have changed', () => {
  const meta = atMostEvery(5_000)
  expect(isDue({ meta: undefined, state: { dataUpdatedAt: T } }, T)).toBe(true)
  expect(isDue({ meta, state: { dataUpdatedAt: T } }, T + 4_999)).toBe(false)
  expect(isDue({ meta, state: { dataUpdatedAt: T } }, T + 5_000)).toBe(true)
})

describe('charts', () => {
  const columns = { p50: [1, null], p95: [2, null], p99: [3, null] }
  const answer = {
    from: T,
    to: null,
    resolutionMs: MINUTE,
    queues: [
      {
        queue: 'a',
        bins: [0, 3],
        counters: { enqueued: [1, 0], done: [2, 5], retried: [0, 0], dead: [0, 0], cancelled: [0, 0] },
        counts: {
          scheduled: [null, null],
          ready: [4, null],
          running: [0, null],
          dead: [0, null],
          oldestReadyMs: [9, null],
        },
        waiting: columns,
        running: columns,
      },
    ],
  }

  test('arrive in columns and become points', () => {
    const [a] = chartsOf(answer).queues
    expect(a?.points.map(({ at }) => at)).toEqual([T, T + 3 * MINUTE])
    expect(a?.points[0]).toMatchObject({ counters: { done: 2 }, counts: { ready: 4 }, waiting: { p95: 2 } })
    expect(a?.points[1]).toMatchObject({
      counters: { done: 5 },
      counts: { ready: null },
      waiting: { p95: null },
    })
  })

  test('are read whole at first, then from the newest bins that may have changed', () => {
    const known: KnownCharts = { ...chartsOf(answer), readAt: T + 5 * MINUTE, wholeAt: T + 5 * MINUTE }
    expect(nextFrom(undefined, T, T + 5 * MINUTE)).toBe(T)
    expect(nextFrom(known, T + MINUTE, T + 6 * MINUTE)).toBe(T + 5 * MINUTE - 30_000)
    // The range has moved past what is known.
    expect(nextFrom(known, T + HOUR, T + 6 * MINUTE)).toBe(T + HOUR)
    // A range that begins earlier, and one that was read whole long ago.
    expect(nextFrom(known, T - MINUTE, T + 6 * MINUTE)).toBe(T - MINUTE)
    expect(nextFrom(known, T, T + 15 * MINUTE)).toBe(T)
  })

  test('equal a whole read after any number of newer bins', () => {
    const counts = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(20), fc.nat(9)), {
      maxLength: 40,
    })
    fc.assert(
      fc.property(counts, fc.nat(20), fc.nat(20), (counted, since, from) => {
        const whole = (first: number) => {
          const byQueue = Map.groupBy(
            counted.filter(([, bin]) => bin >= first),
            ([queue]) => queue,
          )
          const queues = [...byQueue]
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(([queue, own]) => {
              const bins = [...new Map(own.map(([, bin, n]) => [bin, n]))].toSorted(([a], [b]) => a - b)
              return queueOf(
                queue,
                bins.map(([bin, done]) => pointAt(T + bin * MINUTE, { done })),
              )
            })
          return { from: T + first * MINUTE, to: null, resolutionMs: MINUTE, queues }
        }
        const start = Math.max(since, from)
        expect(withNewer(whole(0), whole(start), T + from * MINUTE + 1)).toEqual(whole(from))
      }),
    )
  })
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
      pointAt(before.from - MINUTE, { done: 999 }, { dead: 3, oldestReadyMs: 9 }),
      pointAt(before.from, { done: 300 }),
      pointAt(now.from, { done: 270, retried: 20, dead: 10 }, { dead: 50 }),
    ]),
    queueOf('b', [pointAt(before.from, {}, { dead: 2 }), pointAt(now.from + MINUTE, { done: 270 })]),
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

  test('count no workers that are not known yet, and the total of a queue until it is split', () => {
    const queues = [queueSet('auto'), queueSet('set', { workers: 5 }), queueSet('paused', { paused: true })]
    const started = { instances: [instance('one', 'alive')], slots: [] }
    expect(workersOf(undefined, started)).toBeNull()
    expect(workersOf(queues, started)).toBe(15)
    expect(workersOn(instance('one', 'alive'), undefined, [])).toBeNull()
    expect(workersOn(instance('one', 'alive'), queues, [])).toBeNull()
    const slots = [{ instance: 'one', queue: 'set', workers: 0 }]
    expect(workersOn(instance('one', 'alive'), queues, slots)).toBe(10)
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
