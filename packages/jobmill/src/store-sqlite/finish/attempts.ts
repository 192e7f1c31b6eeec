/** The history of a job: one row per attempt, the newest 32 are kept. */
import { DEFAULTS } from '../../job/defaults.ts'
import { type Outcome, outcomeCode } from '../../job/attempt/outcome.ts'
import type { Sql, Value } from '../connection/handle.ts'
import type { JobRow } from '../job-row.ts'

const COLUMNS = 'job_pk, token, attempt, outcome, started_at, ended_at, went_to, instance, error'
const addRows = (rows: number): string =>
  `INSERT INTO jobmill_attempt (${COLUMNS}) VALUES ${Array.from({ length: rows }, () => '(?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`

// Several rows per statement take two thirds of the time of single rows.
const MANY = 32
const ADD = addRows(1)
const ADD_MANY = addRows(MANY)
const ADD_LOGGED = `INSERT INTO jobmill_attempt (${COLUMNS}, log) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// Binding shared values once takes a third of the time of binding them for every row. Jobs that started at
// one instant are passed as a JSON array of primary keys; otherwise an object maps each primary key to its
// start.
const addAlike = (pk: string, startedAt: string): string => `
  INSERT OR FAIL INTO jobmill_attempt (token, attempt, outcome, ended_at, went_to, instance, job_pk, started_at)
  SELECT ?, ?, ?, ?, ?, ?, ${pk}, ${startedAt} FROM json_each(?) AS one`
const ADD_AT_ONCE = addAlike('one.value', '?')
const ADD_ALIKE = addAlike('CAST(one.key AS INTEGER)', 'one.value')

/** More instants than this are cheaper in one object. */
const FEW_INSTANTS = 4

// By primary key: tokens rise, so the lowest one is the oldest.
const DROP_OLDEST = `
  DELETE FROM jobmill_attempt
  WHERE job_pk = ? AND token = (SELECT min(token) FROM jobmill_attempt WHERE job_pk = ?)`
const DROP_ALL = `DELETE FROM jobmill_attempt WHERE job_pk = ?`
const WENT_TO = `SELECT went_to FROM jobmill_attempt WHERE job_pk = ? AND token = ?`
const INSTANCE = `SELECT id FROM jobmill_instance WHERE pk = ?`

export interface Ending {
  readonly token: number
  readonly outcome: Outcome
  readonly startedAt: number | null
  readonly endedAt: number
  /** Set only by a finish: a retried finish is accepted, but not one whose lease was revoked. */
  readonly wentTo: number | null
  /** The id, not the primary key: instances are deleted long before the history. */
  readonly instance: string | null
  readonly error: string | null
  readonly log: string | null
}

export interface RecordedAttempt {
  readonly job: Pick<JobRow, 'pk' | 'attempt' | 'records'>
  readonly ending: Ending
}

/**
 * Appends one row each. `records` is how many the job had before; the caller increments it in the job's row.
 */
export function recordAttempts(sql: Sql, attempts: readonly RecordedAttempt[]): void {
  // Most attempts have no log, and skip the column.
  const plain = attempts.filter(({ ending }) => ending.log === null)
  const many = plain.length - (plain.length % MANY)
  for (let at = 0; at < many; at += MANY) sql(ADD_MANY).run(...plain.slice(at, at + MANY).flatMap(valuesOf))
  for (const attempt of plain.slice(many)) sql(ADD).run(...valuesOf(attempt))
  for (const attempt of attempts)
    if (attempt.ending.log !== null) sql(ADD_LOGGED).run(...valuesOf(attempt), attempt.ending.log)
  for (const { job } of attempts)
    if (job.records >= DEFAULTS.historyPerJob) sql(DROP_OLDEST).run(job.pk, job.pk)
}

/** The shared values of attempts of one claim that ended alike. */
export interface AlikeEnding {
  readonly token: number
  readonly attempt: number
  readonly outcome: number
  readonly endedAt: number
  readonly wentTo: number
  readonly instance: string
}

/** Appends one row each, for jobs whose history is not full: their primary keys by start time. */
export function recordAlike(
  sql: Sql,
  byStart: ReadonlyMap<number, readonly number[]>,
  { token, attempt, outcome, endedAt, wentTo, instance }: AlikeEnding,
): void {
  const shared = [token, attempt, outcome, endedAt, wentTo, instance]
  if (byStart.size <= FEW_INSTANTS) {
    for (const [startedAt, pks] of byStart) sql(ADD_AT_ONCE).run(...shared, startedAt, JSON.stringify(pks))
    return
  }
  const starts = [...byStart].flatMap(([startedAt, pks]) => pks.map((pk) => `"${pk}":${startedAt}`))
  sql(ADD_ALIKE).run(...shared, `{${starts.join(',')}}`)
}

export function recordAttempt(sql: Sql, job: RecordedAttempt['job'], ending: Ending): void {
  recordAttempts(sql, [{ job, ending }])
}

function valuesOf({ job, ending }: RecordedAttempt): Value[] {
  const { token, outcome, startedAt, endedAt, wentTo, instance, error } = ending
  return [job.pk, token, job.attempt, outcomeCode(outcome), startedAt, endedAt, wentTo, instance, error]
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
