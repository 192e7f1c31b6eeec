/** Builds the lines of the charts from a series. */
import type { Counter, QueueMetrics, Series } from '../api/types.ts'
import type { Line } from '../kit/charts/chart.tsx'
import { type Bins, highestIn, mergeLists, ratesIn } from './bins.ts'
import { levelsIn, totalOf } from './levels.ts'

type QueueSeries = Series['queues'][number]
export type Queues = readonly QueueSeries[]

const ENDED = [
  ['done', 'done'],
  ['retried', 'ready'],
  ['dead', 'dead'],
  ['cancelled', 'cancelled'],
] as const satisfies readonly (readonly [Counter, string])[]

const plus = (a: number, b: number): number => a + b

function rateOf(bins: Bins, queues: Queues, counter: Counter): (number | null)[] {
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

const MOST_QUEUES = 8

/** One line per busy queue, and one for all the others. */
export function doneByQueueLines(bins: Bins, queues: Queues): Line[] {
  const busiest = queues.toSorted((a, b) => b.all.counters.done - a.all.counters.done)
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
          // Older servers do not report this gauge.
          level: ({ counts }) =>
            (counts as Partial<QueueMetrics['counts']> | undefined)?.[state]?.mean ?? null,
        }),
      ),
      bins.times.length,
    ),
  }))
}

const SHARES = ['p50', 'p95', 'p99'] as const

/** The maximum over the queues, because percentiles of several queues cannot be combined. */
export function percentileLines(bins: Bins, queues: Queues, of: 'waiting' | 'running'): Line[] {
  return SHARES.map((share, at) => ({
    name: share,
    colour: `series-${at + 1}`,
    values: mergeLists(
      queues.map(({ points }) => highestIn(bins, points, (point) => point[of][share])),
      Math.max,
      bins.times.length,
    ),
  }))
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
