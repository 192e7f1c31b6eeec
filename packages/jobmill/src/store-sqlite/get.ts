/** Whole jobs by their ids. */
import type { JobRecord } from '../store/job-record.ts'
import { DONE, RUNNING } from './job-row.ts'
import { SUMMARY, summaryOf, type SummaryRow } from './summary.ts'
import type { Look } from './work.ts'

// By jobmill_job_id. The error is that of the newest attempt; a done job shows only what its own last attempt said.
const GET = `
  SELECT ${SUMMARY}, j.payload, j.metadata, j.result, j.progress, j.timeout_ms, j.dedupe_key,
    (SELECT a.error FROM jobmill_attempt AS a
     WHERE a.job_pk = j.pk AND (j.state <> ${DONE} OR a.token = j.token) ORDER BY a.token DESC LIMIT 1) AS error
  FROM jobmill_job AS j WHERE j.id = ?`

interface RecordRow extends SummaryRow {
  readonly payload: string
  readonly metadata: string | null
  readonly result: string | null
  readonly progress: string | null
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
      error: row.error,
      timeoutMs: row.timeout_ms,
      dedupeKey: row.dedupe_key,
    }
  })
}
