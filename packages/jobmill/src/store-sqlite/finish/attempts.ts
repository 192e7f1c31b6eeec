/** The history of a job: one row per attempt, the newest 32 are kept. */
import { DEFAULTS } from '../../job/defaults.ts'
import { outcomeCode } from '../../job/attempt/outcome.ts'
import type { AttemptRecord } from '../../store/types/job-record.ts'
import type { Sql, Value } from '../connection/handle.ts'
import type { JobRow } from '../job-row.ts'

const COLUMNS = 'job_pk, token, attempt, outcome, started_at, ended_at, went_to, instance, error, log'
const addRows = (rows: number): string =>
  `INSERT INTO jobmill_attempt (${COLUMNS}) VALUES ${Array.from({ length: rows }, () => '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`

// Several rows per statement take two thirds of the time of single rows.
const MANY = 32
const ADD = addRows(1)
const ADD_MANY = addRows(MANY)

// Uses the primary key: tokens rise, so the lowest one is the oldest.
const DROP_OLDEST = `
  DELETE FROM jobmill_attempt
  WHERE job_pk = ? AND token = (SELECT min(token) FROM jobmill_attempt WHERE job_pk = ?)`
const DROP_ALL = `DELETE FROM jobmill_attempt WHERE job_pk = ?`
const WENT_TO = `SELECT went_to FROM jobmill_attempt WHERE job_pk = ? AND token = ?`
const INSTANCE = `SELECT id FROM jobmill_instance WHERE pk = ?`

/** Instances have their id here, not their primary key: they are deleted long before the history. */
export interface Ending extends Omit<AttemptRecord, 'attempt' | 'version'> {
  /** Set only by a finish: a retried finish is accepted, but not one whose lease was revoked. */
  readonly wentTo: number | null
}

export interface RecordedAttempt {
  readonly job: Pick<JobRow, 'pk' | 'attempt' | 'records'>
  readonly ending: Ending
}

/**
 * Appends one row each. `records` is how many the job had before; the caller increments it in the job's row.
 */
export function recordAttempts(sql: Sql, attempts: readonly RecordedAttempt[]): void {
  const many = attempts.length - (attempts.length % MANY)
  for (let at = 0; at < many; at += MANY)
    sql(ADD_MANY).run(...attempts.slice(at, at + MANY).flatMap(valuesOf))
  for (const attempt of attempts.slice(many)) sql(ADD).run(...valuesOf(attempt))
  for (const { job } of attempts)
    if (job.records >= DEFAULTS.historyPerJob) sql(DROP_OLDEST).run(job.pk, job.pk)
}

export function recordAttempt(sql: Sql, job: RecordedAttempt['job'], ending: Ending): void {
  recordAttempts(sql, [{ job, ending }])
}

/** Records that an attempt was ended by something other than its own finish. */
export function recordRevoked(
  sql: Sql,
  job: JobRow,
  ending: Pick<Ending, 'outcome' | 'error' | 'endedAt'>,
): void {
  recordAttempt(sql, job, {
    ...ending,
    token: job.token,
    startedAt: job.started_at,
    wentTo: null,
    instance: instanceId(sql, job.instance_pk),
    log: job.log,
  })
}

function valuesOf({ job, ending }: RecordedAttempt): Value[] {
  const { token, outcome, startedAt, endedAt, wentTo, instance, error, log } = ending
  return [job.pk, token, job.attempt, outcomeCode(outcome), startedAt, endedAt, wentTo, instance, error, log]
}

export function dropAttempts(sql: Sql, jobPk: number): void {
  sql(DROP_ALL).run(jobPk)
}

/** The state that a finish with this token gave the job; null when there was none. */
export function finishedBefore(sql: Sql, jobPk: number, token: number): number | null {
  return (sql(WENT_TO).get(jobPk, token) as { went_to: number | null } | undefined)?.went_to ?? null
}

export function instanceId(sql: Sql, instancePk: number | null): string | null {
  if (instancePk === null) return null
  return (sql(INSTANCE).get(instancePk) as { id: string } | undefined)?.id ?? null
}
