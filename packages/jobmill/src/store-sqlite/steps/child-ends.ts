/** Records the ends of child jobs, wakes their parents, and finds the open children of a cancelled job. */
import type { Sql } from '../connection/handle.ts'
import { HAS_STEPS, IS_CHILD, type JobRow } from '../job-row.ts'
import type { Work } from '../work.ts'
import { wakeIfArrived } from './send.ts'

/** How a child ended. */
export interface ChildEnd {
  readonly result?: string | null
  readonly error?: string | null
}

// Both use jobmill_child_id.
const END = `UPDATE jobmill_child SET ended_as = ?, result = ?, error = ? WHERE id = ? RETURNING parent_pk`
const REOPEN = `UPDATE jobmill_child SET ended_as = NULL, result = NULL, error = NULL WHERE id = ?`
// Uses the primary key.
const ID = `SELECT id FROM jobmill_job WHERE pk = ?`

/** Records the end, and wakes the parent if it is parked and this was the last child of a step. */
export function childEnded(work: Work, job: Pick<JobRow, 'id' | 'flags'>, to: number, end: ChildEnd): void {
  if ((job.flags & IS_CHILD) === 0) return
  const { result = null, error = null } = end
  const row = work.sql(END).get(to, result, error, job.id) as { readonly parent_pk: number } | undefined
  const parent =
    row === undefined ? undefined : (work.sql(ID).get(row.parent_pk) as { id: string } | undefined)
  if (parent !== undefined) wakeIfArrived(work, parent.id)
}

/** The child runs again, so its parent waits for it again. */
export function childReopened({ sql }: Work, job: Pick<JobRow, 'id' | 'flags'>): void {
  if ((job.flags & IS_CHILD) !== 0) sql(REOPEN).run(job.id)
}

// Uses jobmill_child_open.
const OPEN = `SELECT id FROM jobmill_child WHERE parent_pk = ? AND ended_as IS NULL`

export function openChildren(sql: Sql, { pk, flags }: Pick<JobRow, 'pk' | 'flags'>): string[] {
  if ((flags & HAS_STEPS) === 0) return []
  return (sql(OPEN).all(pk) as { readonly id: string }[]).map(({ id }) => id)
}
