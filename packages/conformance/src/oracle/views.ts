/** Saved views, by name. */
import type { NewView, ViewRecord } from 'jobmill/store'
import type { OracleState } from './state.ts'

export function addView(state: OracleState, { name, search, by }: NewView): boolean {
  const known = state.views.get(name)
  // A repeated call reports that the work is done.
  if (known !== undefined) return known.search === search && known.by === by
  state.views.set(name, { name, search, by, createdAt: state.now })
  return true
}

export function deleteView(state: OracleState, name: string): boolean {
  return state.views.delete(name)
}

export function readViews(state: OracleState): ViewRecord[] {
  return [...state.views.values()].toSorted((a, b) =>
    Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)),
  )
}
