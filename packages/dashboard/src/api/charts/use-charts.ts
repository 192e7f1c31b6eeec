/** Reads the charts of a range, and afterwards only its newest bins. */
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { type Charts, chartsOf, type KnownCharts, nextFrom, withNewer } from './charts.ts'
import { serverNow } from '../clock.ts'
import { ask, type Problem, type Query } from '../client.ts'
import { atMostEvery } from '../live/pace.ts'
import type { Range } from '../range.ts'
import type { Read } from '../reads.ts'
import type { Answer } from '../types.ts'

export interface ChartsHow {
  readonly enabled?: boolean
  /** Wide bins need not be read as often as the page is refreshed. */
  readonly atMostEveryMs: number
}

export function useCharts(
  range: Range,
  query: Query,
  { enabled = true, atMostEveryMs }: ChartsHow,
): Read<Charts> {
  const client = useQueryClient()
  const queryKey = ['charts', range.key, query]
  return useQuery<KnownCharts, Problem>({
    queryKey,
    async queryFn({ signal }) {
      const { from, to } = range.ends()
      const known = client.getQueryData<KnownCharts>(queryKey)
      const now = serverNow()
      const start = Math.floor(nextFrom(known, from, now))
      const asked = { ...query, from: start, ...(range.preset === null && { to }) }
      // A range that has ended may lie before the newest bins.
      if (known !== undefined && range.preset === null && start >= to) return { ...known, readAt: now }
      const answer = chartsOf(await ask<Answer<'charts.read'>>('charts', { query: asked, signal }))
      if (known === undefined || start === from) return { ...answer, readAt: now, wholeAt: now }
      return { ...withNewer(known, answer, from), readAt: now, wholeAt: known.wholeAt }
    },
    enabled,
    meta: atMostEvery(atMostEveryMs),
    placeholderData: keepPreviousData,
    // Points are new objects in every read, and comparing them would cost more than drawing them.
    structuralSharing: false,
  })
}
