/**
 * Where in the list we are: the filter stands in the address, the cursors of the pages so far in the entry of the browser's history. So the back button leads
 * to the page before, and from a job to the page it was on; a new filter begins at its first page.
 */
import { useMemo } from 'react'
import { useSearchParams } from 'wouter'
import { useHistoryState } from 'wouter/use-browser-location'
import { fromSearch, toSearch } from './filter/address.ts'
import type { Filter, Wrong } from './filter/filter.ts'

interface Step {
  readonly cursor: string
  /** How many jobs were looked at before it. */
  readonly looked: number
}

export interface Place {
  readonly filter: Filter
  /** What is wrong in the address. */
  readonly wrong: readonly Wrong[]
  /** The same text, the same filter. */
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
