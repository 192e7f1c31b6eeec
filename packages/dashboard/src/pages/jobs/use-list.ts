/** A page of the list. One for which many jobs had to be looked at is asked for less often than everything else: to look again and again would be work for the store. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ask, type Problem, type Query } from '../../api/client.ts'
import type { Read } from '../../api/reads.ts'
import type { JobPage } from '../../api/types/job.ts'

/** 50,000 jobs that were looked at are left alone for 10 s. */
const JOBS_PER_MS = 5

export function useList(query: Query): Read<JobPage> {
  return useQuery<JobPage, Problem>({
    queryKey: ['jobs', query],
    queryFn: ({ signal }) => ask('jobs', { query, signal }),
    placeholderData: keepPreviousData,
    staleTime({ state: { data, dataUpdatedAt } }) {
      const restMs = (data?.scanned ?? 0) / JOBS_PER_MS
      return Date.now() - dataUpdatedAt < restMs - FRESH_MS ? 'static' : FRESH_MS
    },
  })
}

/** As for everything on the page. */
const FRESH_MS = 500
