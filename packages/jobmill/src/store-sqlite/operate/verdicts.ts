/** One answer per id for operator actions, in the order of the ids; a duplicated id is handled twice. */
import { type JobState, stateOfCode } from '../../job/state.ts'
import type { Verdict } from '../../store/types/replies.ts'
import { findJob, type JobRow } from '../job-row.ts'
import type { Work } from '../work.ts'

export type Did = Omit<Verdict, 'id'>

export function changedVerdict(state: JobState | null): Did {
  return { verdict: 'changed', state }
}

export function unchangedVerdict(job: JobRow): Did {
  return { verdict: 'unchanged', state: stateOfCode(job.state) }
}

export function refusedVerdict(job: JobRow): Did {
  return { verdict: 'refused', state: stateOfCode(job.state) }
}

export function forEachJob(work: Work, ids: readonly string[], act: (job: JobRow) => Did): Verdict[] {
  return ids.map((id) => {
    const job = findJob(work.sql, id)
    return job === undefined ? { id, verdict: 'unknown', state: null } : { id, ...act(job) }
  })
}
