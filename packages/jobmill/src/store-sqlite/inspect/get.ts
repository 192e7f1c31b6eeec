/** Reads jobs by id: completely, or only their results. */
import { stateOfCode } from '../../job/state.ts'
import type { JobRecord, JobResult } from '../../store/types/job-record.ts'
import { DONE, RUNNING } from '../job-row.ts'
import { SUMMARY, summaryOf, type SummaryRow } from './summary.ts'
import type { Look } from '../work.ts'

// The error of the newest attempt, by primary key; for a done job, only that of its own last attempt.
export const LAST_ERROR = `(SELECT a.error FROM jobmill_attempt AS a
     WHERE a.job_pk = j.pk AND (j.state <> ${DONE} OR a.token = j.token) ORDER BY a.token DESC LIMIT 1)`

// Both by jobmill_job_id. Columns that callers await come before the payload, so that a large payload is not
// read.
const GET = `
  SELECT ${SUMMARY}, j.payload, j.metadata, j.result, j.progress, j.log, j.timeout_ms, j.dedupe_key,
    ${LAST_ERROR} AS error
  FROM jobmill_job AS j WHERE j.id = ?`

const RESULT = `SELECT j.id, j.state, j.result, ${LAST_ERROR} AS error FROM jobmill_job AS j WHERE j.id = ?`

interface RecordRow extends SummaryRow {
  readonly payload: string
  readonly metadata: string | null
  readonly result: string | null
  readonly progress: string | null
  readonly log: string | null
  readonly timeout_ms: number | null
  readonly dedupe_key: string | null
  readonly error: string | null
}

export function get(look: Look, ids: readonly string[]): (JobRecord | null)[] {
  return ids.map((id) => {
    const row = look.sql(GET).get(id) as RecordRow | undefined
    if (row === undefined) return null
    return {
      ...summaryOf(look, row),
      payload: row.payload,
      metadata: row.metadata,
      result: row.result,
      progress: row.state === RUNNING ? row.progress : null,
      log: row.state === RUNNING ? row.log : null,
      error: row.error,
      timeoutMs: row.timeout_ms,
      dedupeKey: row.dedupe_key,
    }
  })
}

export function results({ sql }: Look, ids: readonly string[]): (JobResult | null)[] {
  return ids.map((id) => {
    const row = sql(RESULT).get(id) as Pick<RecordRow, 'state' | 'result' | 'error'> | undefined
    return row === undefined
      ? null
      : { id, state: stateOfCode(row.state), result: row.result, error: row.error }
  })
}
