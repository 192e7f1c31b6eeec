/** Enqueues the child jobs of steps. */
import { type ChildrenStart, STEP_KINDS } from '../../store/types/step.ts'
import { enqueue } from '../enqueue/enqueue.ts'
import { IS_CHILD } from '../job-row.ts'
import type { Work } from '../work.ts'
import { holdingJob, mark } from './steps.ts'
import { stepRow } from './step-rows.ts'

const CHILD = STEP_KINDS.indexOf('child')

// Uses the primary key.
const ADD_STEP = `
  INSERT INTO jobmill_step (job_pk, name, place, kind, token, started_at) VALUES (?, ?, ?, ${CHILD}, ?, ?)`
const ADD = `
  INSERT INTO jobmill_child (parent_pk, step, place, id)
  SELECT ?, ?, one.key, one.value FROM json_each(?) AS one`
// Uses jobmill_job_id.
const MARK = `UPDATE jobmill_job SET flags = flags | ${IS_CHILD} WHERE id IN (SELECT value FROM json_each(?))`

export function startChildren(work: Work, items: readonly ChildrenStart[]): boolean[] {
  const { sql, now } = work
  return items.map(({ id, token, name, place, jobs, versionedKind }) => {
    const parent = holdingJob(work, id, token)
    if (parent === undefined) return false
    mark(work, parent, { resets: false, versionedKind })
    // The call was repeated, or an earlier attempt started the step.
    if (stepRow(sql, parent.pk, name) !== undefined) return true
    sql(ADD_STEP).run(parent.pk, name, place, token, now)
    enqueue(work, jobs)
    const ids = JSON.stringify(jobs.map((job) => job.id))
    sql(ADD).run(parent.pk, name, ids)
    sql(MARK).run(ids)
    return true
  })
}
