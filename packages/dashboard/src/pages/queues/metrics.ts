/** Metrics of the queues for the last hour: the current rate and the trend. */
import { serverTime } from '../../api/clock.ts'
import { along, averageNeighbors, timesOf } from '../../api/charts/points.ts'
import { rangeOf } from '../../api/range.ts'
import { type Charts, sumOf } from '../../api/charts/charts.ts'
import { useCharts } from '../../api/charts/use-charts.ts'

export interface HourOf {
  /** Per second, over the last minutes. */
  readonly donePerSecond: number
  /** Failed attempts and dead jobs in the last hour. */
  readonly failures: number
  readonly done: readonly number[]
}

/** The rate of a single bucket fluctuates, so average over this time, including the open bucket. */
const NOW_MS = 3 * 60_000
const HOUR = rangeOf(new URLSearchParams(), '1h')

export function useHour(): ReadonlyMap<string, HourOf> {
  const { data, dataUpdatedAt } = useCharts(HOUR, { resolution: '60s' }, { atMostEveryMs: 10_000 })
  return data === undefined ? new Map() : hourOf(data, serverTime(dataUpdatedAt))
}

function hourOf(series: Charts, now: number): ReadonlyMap<string, HourOf> {
  const times = timesOf(series, now)
  const begun = now - NOW_MS - (now % series.resolutionMs)
  return new Map(
    series.queues.map(({ queue, points }) => {
      const recent = points.filter(({ at }) => at >= begun)
      return [
        queue,
        {
          donePerSecond: sumOf(recent, 'done') / ((now - begun) / 1_000),
          failures: sumOf(points, 'retried') + sumOf(points, 'dead'),
          done: averageNeighbors(along(times, points, ({ counters }) => counters.done, 0)),
        },
      ]
    }),
  )
}
