/**
 * A page of the job list. A page that scanned many jobs is refreshed less often, to limit the load on the
 * store.
 */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ask, type Problem, type Query } from '../../../api/client.ts'
import type { Read } from '../../../api/reads.ts'
import type { JobPage } from '../../../api/types.ts'

/** A page that scanned 50,000 jobs is refreshed at most every 10 s. */
const JOBS_PER_MS = 5

interface How {
  /** A page that ended before it was full is only refreshed on request. */
  readonly isFrozen: boolean
  /** The query is complete. */
  readonly isReady: boolean
}

export function useList(query: Query, { isFrozen, isReady }: How): Read<JobPage> {
  return useQuery<JobPage, Problem>({
    queryKey: ['jobs', query],
    queryFn: ({ signal }) => ask('jobs', { query, signal }),
    placeholderData: keepPreviousData,
    enabled: isReady,
    staleTime({ state: { data, dataUpdatedAt } }) {
      if (isFrozen && data?.complete === false) return 'static'
      const restMs = (data?.scanned ?? 0) / JOBS_PER_MS
      return Date.now() - dataUpdatedAt < restMs - FRESH_MS ? 'static' : FRESH_MS
    },
  })
}

/** Like every other query. */
const FRESH_MS = 500
