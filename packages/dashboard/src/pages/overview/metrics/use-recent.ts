/** The last hour and the minutes before it, by minutes: what the figures and the table of queues compare. */
import { serverNow } from '../../../api/clock.ts'
import type { Range } from '../../../api/range.ts'
import { type Read, useSeries } from '../../../api/reads.ts'
import type { Series } from '../../../api/types/history.ts'
import { MINUTE, RECENT_MINUTES } from './compare.ts'

const HOUR = 60 * MINUTE

const RECENT: Range = {
  // Open at its end, as presets are.
  preset: '1h',
  ends() {
    const now = serverNow()
    // Further back than what is compared: a level that did not change is told every five minutes.
    return { from: now - HOUR - 2 * RECENT_MINUTES * MINUTE, to: now }
  },
  key: 'now and an hour ago',
}

export function useRecent(): Read<Series> {
  return useSeries(RECENT, { resolution: '1m' }, { atMostEveryMs: 2_500 })
}
