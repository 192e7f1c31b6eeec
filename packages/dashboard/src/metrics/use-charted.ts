/** Loads the series of the chosen range, and the grid on which it is drawn. */
import { serverTime } from '../api/clock.ts'
import { useMemo } from 'react'
import type { Query } from '../api/client.ts'
import type { Range } from '../api/range.ts'
import { type Read, useSeries } from '../api/reads.ts'
import type { Series } from '../api/types.ts'
import { useNow } from '../kit/text/time.tsx'
import { type Bins, binsOf } from './bins.ts'
import { LOOKBACK_MS } from './levels.ts'
import { paceFor, resolutionFor } from './resolution.ts'

export interface Charted {
  readonly read: Read<Series>
  readonly bins: Bins
}

/** `queues` is the number of queues, undefined while it is unknown. `query` narrows the request. */
export function useChartSeries(range: Range, queues: number | undefined, query: Query = {}): Charted {
  const { from, to } = range.ends()
  const resolution = resolutionFor({ from, to, now: useNow(), queues: queues ?? 0 })
  const wider: Range = {
    ...range,
    // Start a little earlier: a gauge that has not changed since then is not written again.
    ends: () => ({ from: Math.max(0, range.ends().from - LOOKBACK_MS), to: range.ends().to }),
    key: `${range.key} and before`,
  }
  const read = useSeries(
    wider,
    { ...query, resolution },
    { enabled: queues !== undefined, atMostEveryMs: paceFor({ from, to }) },
  )
  const { data } = read
  const updatedAt = serverTime(read.dataUpdatedAt)
  const lengthMs = to - from
  const drawnTo = range.preset === null ? to : null
  const bins = useMemo(() => {
    const end = drawnTo ?? updatedAt
    const resolutionMs = data?.resolutionMs ?? 60_000
    return binsOf({ from: end - lengthMs, to: end, resolutionMs, now: updatedAt })
  }, [data, updatedAt, lengthMs, drawnTo])
  return { read, bins }
}
