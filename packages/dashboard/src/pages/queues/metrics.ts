/** Metrics of the queues for the last hour: the current rate and the trend. */
import { serverTime } from '../../api/clock.ts'
import { along, averageNeighbors, timesOf } from '../../api/points.ts'
import { rangeOf } from '../../api/range.ts'
import { useSeries } from '../../api/reads.ts'
import type { Series } from '../../api/types.ts'

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
  const { data, dataUpdatedAt } = useSeries(HOUR, { resolution: '1m' }, { atMostEveryMs: 2_500 })
  return data === undefined ? new Map() : hourOf(data, serverTime(dataUpdatedAt))
}

function hourOf(series: Series, now: number): ReadonlyMap<string, HourOf> {
  const times = timesOf(series, now)
  const begun = now - NOW_MS - (now % series.resolutionMs)
  return new Map(
    series.queues.map(({ queue, all: { counters }, points }) => {
      const recent = points.filter(({ at }) => at >= begun)
      const done = recent.reduce((sum, point) => sum + point.counters.done, 0)
      return [
        queue,
        {
          donePerSecond: done / ((now - begun) / 1_000),
          failures: counters.retried + counters.dead,
          done: averageNeighbors(along(times, points, ({ counters: own }) => own.done, 0)),
        },
      ]
    }),
  )
}
