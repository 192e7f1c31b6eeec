/** The last hour by minutes, and a little more: the data of the metrics and the queue table. */
import { serverNow } from '../../../api/clock.ts'
import type { Range } from '../../../api/range.ts'
import type { Charts } from '../../../api/charts/charts.ts'
import type { Read } from '../../../api/reads.ts'
import { useCharts } from '../../../api/charts/use-charts.ts'
import { MINUTE, RECENT_MINUTES } from './compare.ts'

const HOUR = 60 * MINUTE

const RECENT: Range = {
  // Any preset marks the range as one that moves with the clock.
  preset: '1h',
  ends() {
    const now = serverNow()
    // Starts earlier than the compared period: an unchanged gauge is written every five minutes.
    return { from: now - HOUR - 2 * RECENT_MINUTES * MINUTE, to: now }
  },
  key: 'now and an hour ago',
}

export function useRecent(): Read<Charts> {
  return useCharts(RECENT, { resolution: '60s' }, { atMostEveryMs: 10_000 })
}
