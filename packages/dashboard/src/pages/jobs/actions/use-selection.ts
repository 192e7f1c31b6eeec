/** The selected jobs. The selection survives paging and is cleared by another filter. */
import { useRef, useState } from 'react'
import type { JobSummary, State } from '../../../api/types.ts'

/** The maximum that one bulk action accepts. */
export const MOST_SELECTED = 1_000

export interface Selection {
  /** With their states as last seen. */
  readonly jobs: ReadonlyMap<string, State>
  readonly toggle: (id: string, isRange: boolean) => void
  readonly togglePage: () => void
  readonly clear: () => void
}

const NONE: ReadonlyMap<string, State> = new Map()

export function useSelection(about: string, rows: readonly JobSummary[]): Selection {
  const [chosen, setChosen] = useState({ about, jobs: NONE })
  const last = useRef<string | null>(null)
  const jobs = chosen.about === about ? seenAgain(chosen.jobs, rows) : NONE

  function set(ids: readonly JobSummary[], isOn: boolean): void {
    const next = new Map(jobs)
    for (const { id, state } of ids) {
      if (!isOn) next.delete(id)
      else if (next.size < MOST_SELECTED) next.set(id, state)
    }
    setChosen({ about, jobs: next })
  }

  return {
    jobs,
    toggle(id, isRange) {
      const at = rows.findIndex((row) => row.id === id)
      const from = isRange ? rows.findIndex((row) => row.id === last.current) : -1
      const ends = [from === -1 ? at : from, at]
      last.current = id
      // The whole range gets the new state of the clicked row.
      set(rows.slice(Math.min(...ends), Math.max(...ends) + 1), !jobs.has(id))
    },
    togglePage: () => set(rows, !rows.every(({ id }) => jobs.has(id))),
    clear: () => setChosen({ about, jobs: NONE }),
  }
}

function seenAgain(
  jobs: ReadonlyMap<string, State>,
  rows: readonly JobSummary[],
): ReadonlyMap<string, State> {
  if (jobs.size === 0) return jobs
  const states = new Map(rows.map(({ id, state }) => [id, state]))
  return new Map([...jobs].map(([id, state]) => [id, states.get(id) ?? state]))
}
