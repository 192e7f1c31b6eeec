/**
 * The position in the job list. The filter is part of the URL; the cursors of earlier pages are in the
 * history entry. So Back returns to the previous page, and from a job to its page. A new filter starts at the
 * first page.
 */
import { useMemo } from 'react'
import { useSearchParams } from 'wouter'
import { useHistoryState } from 'wouter/use-browser-location'
import { fromSearch, toSearch } from './filter/address.ts'
import type { Filter, Wrong } from './filter/filter.ts'

interface Step {
  readonly cursor: string
  /** The number of jobs scanned before it. */
  readonly looked: number
}

export interface Place {
  readonly filter: Filter
  /** Problems of the filter in the URL. */
  readonly wrong: readonly Wrong[]
  /** Equal filters have equal keys. */
  readonly key: string
  readonly steps: readonly Step[]
  readonly choose: (filter: Filter) => void
  readonly next: (cursor: string, scanned: number) => void
  readonly back: () => void
  readonly first: () => void
}

export function usePlace(): Place {
  const [search, setSearch] = useSearchParams()
  const steps = stepsOf(useHistoryState<unknown>())
  const { filter, wrong } = useMemo(() => fromSearch(search), [search])
  const go = (to: readonly Step[]): void => setSearch(search, { state: { jobSteps: to } })
  return {
    filter,
    wrong,
    key: search.toString(),
    steps,
    choose: (next) => setSearch(toSearch(next)),
    next: (cursor, scanned) => go([...steps, { cursor, looked: (steps.at(-1)?.looked ?? 0) + scanned }]),
    back: () => go(steps.slice(0, -1)),
    first: () => go([]),
  }
}

const NONE: readonly Step[] = []

function stepsOf(state: unknown): readonly Step[] {
  const found = typeof state === 'object' && state !== null && 'jobSteps' in state ? state.jobSteps : null
  return Array.isArray(found) ? (found as readonly Step[]) : NONE
}
