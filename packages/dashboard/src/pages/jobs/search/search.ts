/**
 * A search: filters without an index make the server scan jobs, a bounded number per request. The page sends
 * the next request on its own until it has enough matches.
 */
import type { Problem } from '../../../api/client.ts'
import type { JobPage } from '../../../api/types.ts'
import type { Filter } from '../filter/filter.ts'
import type { Sums } from '../list/state-tabs.tsx'

type Job = JobPage['jobs'][number]

/** What was found after the first response. */
export interface Search {
  readonly found: readonly Job[]
  /** Includes the first response. */
  readonly scanned: number
  /** Where to continue. Undefined: after the first response. Null: at the end. */
  readonly cursor: string | null | undefined
  /** The page has as many jobs as it may show. */
  readonly isFull: boolean
  readonly isStopped: boolean
  readonly problem: Problem | null
}

export const NEW_SEARCH: Search = {
  found: [],
  scanned: 0,
  cursor: undefined,
  isFull: false,
  isStopped: false,
  problem: null,
}

/** `none`: one response was enough, so there is nothing to search. */
export type SearchStatus = 'none' | 'running' | 'stopped' | 'failed' | 'full' | 'done'

export function statusOf(first: JobPage | undefined, search: Search): SearchStatus {
  if (first === undefined) return 'none'
  if (search.cursor === undefined && (first.complete || first.next === null)) return 'none'
  if (search.cursor === null) return 'done'
  if (search.isFull) return 'full'
  if (search.problem !== null) return 'failed'
  return search.isStopped ? 'stopped' : 'running'
}

/** Whether it would send another request if the first response was not enough. */
export const mayProceed = ({ cursor, isFull, isStopped, problem }: Search): boolean =>
  cursor !== null && !isFull && !isStopped && problem === null

/**
 * Adds a response. `keepsFirst`: also remember the jobs of the first response, because newer jobs can push
 * them out of the part that a refresh of it scans.
 */
export function continued(search: Search, first: JobPage, page: JobPage, keepsFirst: boolean): Search {
  const isSecond = search.cursor === undefined
  return {
    ...search,
    found: [...search.found, ...(isSecond && keepsFirst ? first.jobs : []), ...page.jobs],
    scanned: (isSecond ? first.scanned : search.scanned) + page.scanned,
    cursor: page.next,
    isFull: page.complete && page.next !== null,
  }
}

/** The first response and everything found after it, as one page. */
export function wholePage(first: JobPage, shown: readonly Job[], search: Search): JobPage {
  if (search.cursor === undefined) return { ...first, jobs: [...shown] }
  const known = new Set(shown.map(({ id }) => id))
  const added = search.found.filter(({ id }) => !known.has(id) && known.add(id))
  return {
    jobs: [...shown, ...added],
    next: search.cursor,
    scanned: search.scanned,
    complete: search.isFull || search.cursor === null,
  }
}

/** Whether the filter uses the index of a payload path, which leaves few jobs to compare. */
const usesIndex = ({ payload }: Filter): boolean => payload.some(({ isIndexed }) => isIndexed === true)

/** Whether the filter compares payloads, which is the most expensive scan. */
export const readsPayloads = (filter: Filter): boolean =>
  !usesIndex(filter) && (filter.payload.length > 0 || filter.text !== null)

/**
 * About how many jobs the server scans for a filter, or null if that is not known. Lists of ready and ended
 * jobs are read by queue, and lists by tag from the index of the tag.
 */
export function totalOf(filter: Filter, countsOf: (queue: string | null) => Sums | null): number | null {
  const { state, tags, queue } = filter
  if (usesIndex(filter) || (state === null && tags.length > 0)) return null
  const isByQueue = state === 'ready' || state === 'done' || state === 'dead' || state === 'cancelled'
  const counts = countsOf(isByQueue ? queue : null)
  if (counts === null) return null
  if (state === null) return Object.values(counts).reduce((sum, n) => sum + n, 0)
  return counts[state === 'retrying' ? 'scheduled' : state]
}
