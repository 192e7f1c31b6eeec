/** Reads the children of jobs, and the parents of children. */
import { stateOfCode } from '../../job/state.ts'
import type { ChildRecord, ChildrenOf, ParentRecord } from '../../store/types/step.ts'
import type { Sql } from '../connection/handle.ts'
import { findJob, HAS_STEPS } from '../job-row.ts'

const COLUMNS = 'id, step, place, ended_as, result, error'
// All use the primary key.
const OF_STEP = `SELECT ${COLUMNS} FROM jobmill_child WHERE parent_pk = ? AND step = ? ORDER BY place`
const NO_RESULT = 'id, step, place, ended_as, NULL AS result, error'
const ENDS_OF_STEP = `SELECT ${NO_RESULT} FROM jobmill_child WHERE parent_pk = ? AND step = ? ORDER BY place`
const OF_JOB = `SELECT ${NO_RESULT} FROM jobmill_child WHERE parent_pk = ? ORDER BY step, place LIMIT ?`
export const CHILDREN = `SELECT ${COLUMNS} FROM jobmill_child WHERE parent_pk = ? ORDER BY step, place`
// Uses jobmill_child_id, and the primary key of the parent.
const PARENT = `
  SELECT j.id, c.step FROM jobmill_child AS c CROSS JOIN jobmill_job AS j ON j.pk = c.parent_pk WHERE c.id = ?`

export type ChildRow = Omit<ChildRecord, 'endedAs'> & { readonly ended_as: number | null }

export function children(sql: Sql, id: string, of: ChildrenOf): ChildRecord[] {
  const parent = findJob(sql, id)
  if (parent === undefined || (parent.flags & HAS_STEPS) === 0) return []
  const rows =
    'step' in of
      ? sql(of.results === false ? ENDS_OF_STEP : OF_STEP).all(parent.pk, of.step)
      : sql(OF_JOB).all(parent.pk, of.limit)
  return (rows as ChildRow[]).map(childOf)
}

export function childOf({ ended_as: endedAs, ...row }: ChildRow): ChildRecord {
  return { ...row, endedAs: endedAs === null ? null : (stateOfCode(endedAs) as ChildRecord['endedAs']) }
}

export function parents(sql: Sql, ids: readonly string[]): (ParentRecord | null)[] {
  return ids.map((id) => (sql(PARENT).get(id) as ParentRecord | undefined) ?? null)
}
