/**
 * Continues a list that scans many jobs: one request at a time, with a rest after each, and only while the
 * tab is visible. Back returns to what was found.
 */
import { useEffect, useRef, useState } from 'react'
import { useActs } from '../../../api/acted.ts'
import { ask, encodeName, type Problem, type Query } from '../../../api/client.ts'
import type { Read } from '../../../api/reads.ts'
import type { Inspected, JobPage } from '../../../api/types.ts'
import { useVisible } from '../../../api/live/visible.ts'
import { cameBack } from '../../../shell/came-back.ts'
import type { Filter } from '../filter/filter.ts'
import { useList } from '../list/use-list.ts'
import {
  continued,
  mayProceed,
  NEW_SEARCH,
  readsPayloads,
  type Search,
  type SearchStatus,
  statusOf,
  wholePage,
} from './search.ts'

/** The page rests as long as a request took, so that a search takes at most half of the server's time. */
const LEAST_REST_MS = 100
const MOST_REST_MS = 2_000

interface Listed {
  readonly filter: Filter
  /** The filter as parameters, and `cursor` if this is not the first page. */
  readonly query: Query
  readonly limit: number
  /** Equal lists have equal ids. */
  readonly id: string
  readonly isReady: boolean
}

export interface Searching {
  /** The first response. */
  readonly read: Read<JobPage>
  readonly search: Search
  readonly status: SearchStatus
  readonly stop: () => void
  readonly proceed: () => void
  readonly restart: () => void
}

/** The search that was left last, for Back. */
let left = { id: '', search: NEW_SEARCH }

export function useSearch({ filter, query, limit, id, isReady }: Listed): Searching {
  const [own, setOwn] = useState(() => (cameBack() && left.id === id ? left : { id, search: NEW_SEARCH }))
  const search = own.id === id ? own.search : NEW_SEARCH
  const change = (next: (search: Search) => Search): void =>
    setOwn((before) => ({ id, search: next(before.id === id ? before.search : NEW_SEARCH) }))
  useEffect(() => {
    left = { id, search }
  }, [id, search])

  // A refresh would scan the same jobs again, next to the search.
  const isFrozen = readsPayloads(filter) || mayProceed(search)
  const read = useList({ ...query, limit }, { isFrozen, isReady })
  const first = read.isPlaceholderData ? undefined : read.data
  const status = statusOf(first, search)
  useContinued({
    query,
    limit,
    first,
    search,
    isRunning: status === 'running',
    change,
    keepsFirst: filter.state === null,
  })
  useRefreshed(read, status, search, filter, change)
  return {
    read,
    search,
    status,
    stop: () => change((known) => ({ ...known, isStopped: true })),
    proceed: () => change((known) => ({ ...known, isStopped: false, problem: null })),
    restart() {
      change(() => NEW_SEARCH)
      void read.refetch()
    },
  }
}

interface Continued {
  readonly query: Query
  readonly limit: number
  readonly first: JobPage | undefined
  readonly search: Search
  readonly isRunning: boolean
  readonly change: (next: (search: Search) => Search) => void
  readonly keepsFirst: boolean
}

/** Sends the next request after a rest. Leaving the page or hiding the tab aborts it. */
function useContinued({ query, limit, first, search, isRunning, change, keepsFirst }: Continued): void {
  const isVisible = useVisible()
  const rest = useRef(LEAST_REST_MS)
  const cursor = search.cursor === undefined ? first?.next : search.cursor
  const isActive = isRunning && isVisible
  useEffect(() => {
    if (!isActive || first === undefined || typeof cursor !== 'string') return undefined
    const ending = new AbortController()
    async function proceed(after: JobPage, from: string): Promise<void> {
      const began = performance.now()
      const known = wholePage(after, after.jobs, search).jobs.length
      const part = { ...query, cursor: from, limit: Math.max(1, limit - known) }
      try {
        const page = await ask<JobPage>('jobs', { query: part, signal: ending.signal })
        rest.current = Math.min(MOST_REST_MS, Math.max(LEAST_REST_MS, performance.now() - began))
        change((before) => continued(before, after, page, keepsFirst))
      } catch (problem) {
        if (!ending.signal.aborted) change((before) => ({ ...before, problem: problem as Problem }))
      }
    }
    const timer = setTimeout(() => void proceed(first, cursor), rest.current)
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [isActive, cursor])
}

type Change = Continued['change']

/**
 * An action of the user, or their refresh, reads what is shown again: the first response as a whole, and the
 * jobs found after it one by one, because a second scan would take as long as the first.
 */
function useRefreshed(
  { refetch }: Read<JobPage>,
  status: SearchStatus,
  { found }: Search,
  { state }: Filter,
  change: Change,
): void {
  const acts = useActs()
  const seen = useRef(acts)
  useEffect(() => {
    if (seen.current === acts) return undefined
    seen.current = acts
    if (status === 'none') return undefined
    void refetch()
    const ending = new AbortController()
    void readAgain(found, ending.signal).then((now) =>
      change((search) => ({
        ...search,
        found: search.found.flatMap((job) => {
          const read = now.has(job.id) ? now.get(job.id) : job
          const fits = state === null || read?.state === (state === 'retrying' ? 'scheduled' : state)
          return read === undefined || read === null || !fits ? [] : [read]
        }),
      })),
    )
    return () => ending.abort()
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [acts])
}

type Found = Search['found'][number]

/** Null: deleted. A job that cannot be read is left out and stays as it is shown. */
async function readAgain(jobs: readonly Found[], signal: AbortSignal): Promise<Map<string, Found | null>> {
  const read = new Map<string, Found | null>()
  for (const { id } of jobs) {
    if (signal.aborted) break
    try {
      const { job } = await ask<Inspected>(`jobs/${encodeName(id)}`, { query: { largest: 0 }, signal })
      read.set(id, job)
    } catch (problem) {
      if ((problem as Problem).status === 404) read.set(id, null)
    }
  }
  return read
}
