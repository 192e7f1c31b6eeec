/** What the end of a child job changes. */
import type { EndedState } from 'jobmill/store'
import type { OracleChild, OracleJob, OracleState } from '../state.ts'

/** The entry of a job in the list of its parent. */
function entryOf(state: OracleState, { id }: Pick<OracleJob, 'id'>): [OracleJob, OracleChild] | undefined {
  for (const parent of state.jobs.values()) {
    const entry = parent.children.find((child) => child.id === id)
    if (entry !== undefined) return [parent, entry]
  }
  return undefined
}

/** The next `stage` wakes the parent. */
export function childEnded(
  state: OracleState,
  job: OracleJob,
  to: EndedState,
  { result = null, error = null }: { readonly result?: string | null; readonly error?: string | null },
): void {
  const found = entryOf(state, job)
  if (found !== undefined) Object.assign(found[1], { endedAs: to, result, error })
}

export function childReopened(state: OracleState, job: OracleJob): void {
  const found = entryOf(state, job)
  if (found !== undefined) Object.assign(found[1], { endedAs: null, result: null, error: null })
}

export function parentOf(
  state: OracleState,
  job: Pick<OracleJob, 'id'>,
): { id: string; step: string } | null {
  const found = entryOf(state, job)
  return found === undefined ? null : { id: found[0].id, step: found[1].step }
}
