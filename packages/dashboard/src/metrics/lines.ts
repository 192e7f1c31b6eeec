/** Builds the lines of the charts from a series. */
import { type ChartCounter, type QueuePoints, sumOf } from '../api/charts/charts.ts'
import type { Line } from '../kit/charts/line.ts'
import { type Bins, highestIn, mergeLists, ratesIn } from './bins.ts'
import { levelsIn, totalOf } from './levels.ts'

export type Queues = readonly QueuePoints[]

const ENDED = [
  ['done', 'done'],
  ['retried', 'ready'],
  ['dead', 'dead'],
  ['cancelled', 'cancelled'],
] as const satisfies readonly (readonly [ChartCounter, string])[]

const plus = (a: number, b: number): number => a + b

function rateOf(bins: Bins, queues: Queues, counter: ChartCounter): (number | null)[] {
  const points = queues.flatMap((queue) => queue.points)
  return ratesIn(bins, points, ({ counters }) => counters[counter])
}

export function endedLines(bins: Bins, queues: Queues): Line[] {
  return ENDED.map(([counter, colour]) => ({
    name: counter,
    colour,
    values: rateOf(bins, queues, counter),
  }))
}

/**
 * The share of the attempts in each bin that failed. Small shares are invisible in a chart of all outcomes.
 */
export function failureLines(bins: Bins, queues: Queues): Line[] {
  const [done, retried, dead] = (['done', 'retried', 'dead'] as const).map((counter) =>
    rateOf(bins, queues, counter),
  )
  const values = bins.times.map((_, at) => {
    const failed = (retried?.[at] ?? 0) + (dead?.[at] ?? 0)
    const all = failed + (done?.[at] ?? 0)
    return all === 0 ? null : failed / all
  })
  return [{ name: 'failed', colour: 'dead', values }]
}

/** More colors look alike. */
const MOST_QUEUES = 5

/** One line per busy queue, and one for all the others. */
export function doneByQueueLines(bins: Bins, queues: Queues): Line[] {
  const done = new Map(queues.map(({ queue, points }) => [queue, sumOf(points, 'done')]))
  const busiest = queues.toSorted((a, b) => (done.get(b.queue) ?? 0) - (done.get(a.queue) ?? 0))
  const own = busiest.slice(0, MOST_QUEUES).toSorted((a, b) => (a.queue < b.queue ? -1 : 1))
  const others = busiest.slice(MOST_QUEUES)
  return [
    ...own.map((queue, at) => ({
      name: queue.queue,
      colour: `series-${at + 1}`,
      values: rateOf(bins, [queue], 'done'),
    })),
    ...(others.length === 0
      ? []
      : [{ name: `${others.length} others`, colour: 'soft', values: rateOf(bins, others, 'done') }]),
  ]
}

const BACKLOG = ['scheduled', 'ready', 'running'] as const

export function backlogLines(bins: Bins, queues: Queues, resolutionMs: number): Line[] {
  return BACKLOG.map((state) => ({
    name: state,
    colour: state,
    values: totalOf(
      queues.map(({ points }) =>
        levelsIn({
          bins,
          resolutionMs,
          points,
          level: ({ counts }) => counts[state],
        }),
      ),
      bins.times.length,
    ),
  }))
}

const SHARES = ['p50', 'p95', 'p99'] as const

/** A line for each percentile. */
export function shareLines(values: (share: (typeof SHARES)[number]) => Line['values']): Line[] {
  return SHARES.map((share, at) => ({
    name: share,
    colour: `series-${at + 1}`,
    // Otherwise p99 hides p95 where the two are equal.
    isDashed: share === 'p99',
    values: values(share),
  }))
}

/** The maximum over the queues, because percentiles of several queues cannot be combined. */
export function percentileLines(bins: Bins, queues: Queues, of: 'waiting' | 'running'): Line[] {
  return shareLines((share) =>
    mergeLists(
      queues.map(({ points }) => highestIn(bins, points, (point) => point[of][share])),
      Math.max,
      bins.times.length,
    ),
  )
}

/** The highest value, used to choose one unit for the whole chart. */
export function mostOf(lines: readonly Line[], isStacked: boolean): number {
  const length = lines[0]?.values.length ?? 0
  const values = isStacked
    ? mergeLists(
        lines.map((line) => line.values),
        plus,
        length,
      )
    : lines.flatMap((line) => line.values)
  return values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0)
}
