/** Resource usage of the processes in the last minutes. */
import { serverTime } from '../../api/clock.ts'
import { along, averageNeighbors, timesOf } from '../../api/charts/points.ts'
import { rangeOf } from '../../api/range.ts'
import { useSeries, useWorkers } from '../../api/reads.ts'
import type { Gauge, InstanceMetrics, Series } from '../../api/types.ts'
import { bytes, percent, span } from '../../kit/text/format.ts'

export interface Used {
  readonly name: string
  readonly about: string
  /** The newest bucket with a value. */
  readonly now: string
  readonly values: readonly number[]
}

type Measured = keyof Pick<InstanceMetrics, 'cpu' | 'rssBytes' | 'loopLagMs'>

const MEASURES: readonly [Measured, string, string, keyof Gauge, (value: number) => string][] = [
  ['cpu', 'CPU', 'share of one core', 'mean', percent],
  ['rssBytes', 'Memory', 'resident, max', 'most', bytes],
  ['loopLagMs', 'Event-loop lag', 'timer delay, max', 'most', span],
]

/** The ids of the instances are part of a URL. */
const MOST = 100

const RECENT = rangeOf(new URLSearchParams(), '15m')

/** The recent resource usage of each instance. */
export function useUsage(): ReadonlyMap<string, readonly Used[]> {
  const alive = (useWorkers().data?.instances ?? []).filter(({ endedAt }) => endedAt === null)
  const instance = alive.slice(0, MOST).map(({ id }) => id)
  const how = { atMostEveryMs: 10_000, enabled: instance.length > 0 }
  const { data, dataUpdatedAt } = useSeries(RECENT, { resolution: '1m', instance }, how)
  return data === undefined ? new Map() : usageOf(data, serverTime(dataUpdatedAt))
}

function usageOf(series: Series, now: number): ReadonlyMap<string, readonly Used[]> {
  const times = timesOf(series, now)
  return new Map(
    (series.instances ?? []).map(({ instance, points }) => [
      instance,
      MEASURES.map(([key, name, about, part, format]) => {
        const last = points.findLast((point) => point[key] !== null)?.[key]?.[part]
        const since = times.filter((time) => time >= (points[0]?.at ?? 0))
        const values = averageNeighbors(along(since, points, (point) => point[key]?.[part], 0))
        return { name, about, now: last === undefined ? '–' : format(last), values }
      }),
    ]),
  )
}
