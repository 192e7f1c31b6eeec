/** Rewind runs an ended job again from one of its steps. Fork does so with a copy of a job. */
import { isEnded, stateOfCode } from '../../job/state.ts'
import type { NewJob } from '../../job/enqueue/new-job.ts'
import type { Verdict } from '../../store/types/replies.ts'
import { enqueue } from '../enqueue/enqueue.ts'
import { findJob, HAS_STEPS } from '../job-row.ts'
import { cancel, revive } from '../operate/actions.ts'
import { STEPS_REWOUND } from '../../store/types/step.ts'
import type { Work } from '../work.ts'

// Each uses the primary key of its table.
const LATER_STEPS = `SELECT name FROM jobmill_step WHERE job_pk = ? AND place >= ?`
const OPEN = `
  SELECT id FROM jobmill_child WHERE parent_pk = ? AND ended_as IS NULL AND step IN (${LATER_STEPS})`
const FREE_EVENTS = `UPDATE jobmill_job_event SET step = NULL WHERE job_pk = ? AND step IN (${LATER_STEPS})`
const DROP_CHILDREN = `DELETE FROM jobmill_child WHERE parent_pk = ? AND step IN (${LATER_STEPS})`
const DROP = `DELETE FROM jobmill_step WHERE job_pk = ? AND place >= ?`
const UNMARK = `
  UPDATE jobmill_job SET flags = flags & ~${HAS_STEPS}
  WHERE pk = ? AND NOT EXISTS (SELECT 1 FROM jobmill_step AS s WHERE s.job_pk = jobmill_job.pk)`
const NO_RESULT = `UPDATE jobmill_job SET result = NULL WHERE pk = ?`

export function rewind(work: Work, id: string, place: number): Verdict {
  const { sql } = work
  const job = findJob(sql, id)
  if (job === undefined) return { id, verdict: 'unknown', state: null }
  const state = stateOfCode(job.state)
  if (!isEnded(state)) return { id, verdict: 'refused', state }
  const did = revive(work, job)
  if (did.verdict !== 'changed') return { id, ...did }
  sql(NO_RESULT).run(job.pk)
  const open = sql(OPEN).all(job.pk, job.pk, place) as { readonly id: string }[]
  cancel(
    work,
    open.map((child) => child.id),
    STEPS_REWOUND,
  )
  for (const text of [FREE_EVENTS, DROP_CHILDREN]) sql(text).run(job.pk, job.pk, place)
  sql(DROP).run(job.pk, place)
  sql(UNMARK).run(job.pk)
  return { id, ...did }
}

const MARK = `UPDATE jobmill_job SET flags = flags | ${HAS_STEPS} WHERE pk = ?`
// A sleep ends when its time is up. Nothing writes its end.
const COPY = `
  INSERT INTO jobmill_step (job_pk, name, place, kind, token, started_at, ended_at, due_at, events, result, checkpoint)
  SELECT ?, name, place, kind, 0, started_at, coalesce(ended_at, due_at), due_at, events, result, checkpoint
  FROM jobmill_step WHERE job_pk = ? AND place < ? AND (ended_at IS NOT NULL OR events IS NULL AND due_at <= ?)`

/** False if the job does not exist. */
export function fork(work: Work, id: string, place: number, job: NewJob): boolean {
  const { sql, now } = work
  const origin = findJob(sql, id)
  if (origin === undefined) return false
  if (findJob(sql, job.id) !== undefined) return true
  enqueue(work, [job])
  const made = findJob(sql, job.id)
  if (made === undefined) return true
  if (sql(COPY).run(made.pk, origin.pk, place, now).changes > 0) sql(MARK).run(made.pk)
  return true
}
