/** Loads the metrics of the chosen range, and the grid on which they are drawn. */
import { serverTime } from '../api/clock.ts'
import { useMemo } from 'react'
import type { Charts } from '../api/charts/charts.ts'
import type { Range } from '../api/range.ts'
import { type Read, useSeries } from '../api/reads.ts'
import type { Series } from '../api/types.ts'
import { useCharts } from '../api/charts/use-charts.ts'
import { useNow } from '../kit/text/time.tsx'
import { type Bins, binsOf } from './bins.ts'
import { LOOKBACK_MS } from './levels.ts'
import { paceFor, widthFor } from './resolution.ts'

interface Charted<T> {
  readonly read: Read<T>
  readonly bins: Bins
}

/** The charts of one queue, or of all. `queues` is the number of queues, undefined while it is unknown. */
export function useQueueCharts(range: Range, queues: number | undefined, queue?: string): Charted<Charts> {
  const { wider, resolution, atMostEveryMs } = useAsked(range, queues ?? 0)
  const query = { resolution, ...(queue !== undefined && { queue }) }
  const read = useCharts(wider, query, { enabled: queues !== undefined, atMostEveryMs })
  return { read, bins: useBins(range, read) }
}

export function useLimitSeries(range: Range, limit: string): Charted<Series> {
  const { wider, resolution, atMostEveryMs } = useAsked(range, 1)
  const read = useSeries(wider, { limit, resolution }, { atMostEveryMs })
  return { read, bins: useBins(range, read) }
}

export function useKindSeries(range: Range, kind: string): Charted<Series> {
  const { wider, resolution, atMostEveryMs } = useAsked(range, 1)
  const read = useSeries(wider, { kind, resolution }, { atMostEveryMs })
  return { read, bins: useBins(range, read) }
}

function useAsked(range: Range, queues: number) {
  const widthMs = widthFor({ ...range.ends(), now: useNow(), queues })
  const wider: Range = {
    ...range,
    // Start a little earlier: a gauge that has not changed since then is not written again.
    ends: () => ({ from: Math.max(0, range.ends().from - LOOKBACK_MS), to: range.ends().to }),
    key: `${range.key} and before`,
  }
  return { wider, resolution: `${widthMs / 1_000}s`, atMostEveryMs: paceFor(widthMs) }
}

function useBins(range: Range, { data, dataUpdatedAt }: Read<{ readonly resolutionMs: number }>): Bins {
  const { from, to } = range.ends()
  const updatedAt = serverTime(dataUpdatedAt)
  const lengthMs = to - from
  const drawnTo = range.preset === null ? to : null
  return useMemo(() => {
    const end = drawnTo ?? updatedAt
    const resolutionMs = data?.resolutionMs ?? 60_000
    return binsOf({ from: end - lengthMs, to: end, resolutionMs, now: updatedAt })
  }, [data, updatedAt, lengthMs, drawnTo])
}
