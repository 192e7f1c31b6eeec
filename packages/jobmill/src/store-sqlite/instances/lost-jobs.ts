/**
 * Reverts the crash count of jobs whose instance was reaped although its process is alive. The reaper records
 * the jobs in `jobmill_lost_job`, and the instance finds them there when it registers again, in any state. If
 * the process was blocked, the crash still counts, and only the error is extended.
 */
import { KEY_TAKEN, NO_CRASH, STOOD_STILL } from '../../job/attempt/crash.ts'
import { outcomeCode } from '../../job/attempt/outcome.ts'
import { DEAD, findJob, type JobRow } from '../job-row.ts'
import { revive } from '../operate/actions.ts'
import type { Work } from '../work.ts'

// Each uses its primary key, or a prefix of it.
const NOTE = `INSERT OR IGNORE INTO jobmill_lost_job (instance_pk, job, token) VALUES (?, ?, ?)`
const OF_INSTANCE = `SELECT job, token FROM jobmill_lost_job WHERE instance_pk = ? ORDER BY job, token`
const FORGET = `DELETE FROM jobmill_lost_job WHERE instance_pk = ?`
const UNCOUNT = `UPDATE jobmill_job SET crashes = max(crashes - 1, 0) WHERE pk = ?`
// The attempt keeps its place in the history, but its error no longer says that it crashed.
const SET_ERROR = `UPDATE jobmill_attempt SET error = ? WHERE job_pk = ? AND token = ?`
const ADD_TO_ERROR = `UPDATE jobmill_attempt SET error = error || ? WHERE job_pk = ? AND token = ?`
// Once, however many of its crashes are reverted.
const SAY_KEY_TAKEN = `UPDATE jobmill_attempt SET error = replace(error, ?, '') || ? WHERE job_pk = ? AND token = ?`
const DIED_OF_CRASH = `
  SELECT 1 FROM jobmill_attempt
  WHERE job_pk = ? AND token = ? AND went_to IS NULL AND outcome = ${outcomeCode('interrupted')}`

// Instances are deleted an hour after their end, and these rows with them.
export const DROP_LOST_JOBS = `DELETE FROM jobmill_lost_job WHERE instance_pk NOT IN (SELECT pk FROM jobmill_instance)`

export function noteLost({ sql }: Work, job: JobRow): void {
  sql(NOTE).run(job.instance_pk, job.id, job.token)
}

export function takeCrashesBack(work: Work, instancePk: number, stoodStill = false): void {
  const lost = work.sql(OF_INSTANCE).all(instancePk) as { job: string; token: number }[]
  if (lost.length === 0) return
  work.sql(FORGET).run(instancePk)
  for (const { job: id, token } of lost) {
    const job = findJob(work.sql, id)
    if (job === undefined) continue
    if (stoodStill) {
      work.sql(ADD_TO_ERROR).run(STOOD_STILL, job.pk, token)
      continue
    }
    work.sql(UNCOUNT).run(job.pk)
    work.sql(SET_ERROR).run(NO_CRASH, job.pk, token)
    if (job.state !== DEAD || work.sql(DIED_OF_CRASH).get(job.pk, job.token) === undefined) continue
    if (revive(work, job).verdict === 'refused')
      work.sql(SAY_KEY_TAKEN).run(KEY_TAKEN, KEY_TAKEN, job.pk, job.token)
  }
}
