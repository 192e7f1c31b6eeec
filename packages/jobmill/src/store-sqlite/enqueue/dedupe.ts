/** Dedupe keys: their holder and expiry. All by primary key, under the write lock of the operation. */
import type { Sql } from '../connection/handle.ts'
import { DONE, type JobRow } from '../job-row.ts'

const HOLDER = `SELECT job_id FROM jobmill_dedupe WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)`

// Replaces an expired hold that was not removed yet.
const TAKE = `INSERT OR REPLACE INTO jobmill_dedupe (key, job_id, expires_at) VALUES (?, ?, NULL)`
const HOLD = `UPDATE jobmill_dedupe SET expires_at = ? WHERE key = ? AND job_id = ?`
const FREE = `DELETE FROM jobmill_dedupe WHERE key = ? AND job_id = ?`

type Keyed = Pick<JobRow, 'id' | 'dedupe_key' | 'hold_ms' | 'hold_after'>

/** The id of the job that holds the key now. */
export function keyHolder(sql: Sql, key: string, now: number): string | undefined {
  return (sql(HOLDER).get(key, now) as { job_id: string } | undefined)?.job_id
}

export function takeKey(sql: Sql, key: string, jobId: string): void {
  sql(TAKE).run(key, jobId)
}

/** After the job ended: keeps the key for the requested time, or frees it. */
export function holdKey(sql: Sql, job: Keyed, endedAs: number, now: number): void {
  const { dedupe_key: key, hold_ms: ms, hold_after: after } = job
  if (key === null || ms === null) return
  if (ms > 0 && (endedAs === DONE || after === 'ended')) sql(HOLD).run(now + ms, key, job.id)
  else sql(FREE).run(key, job.id)
}

export function freeKey(sql: Sql, job: Keyed): void {
  if (job.dedupe_key !== null) sql(FREE).run(job.dedupe_key, job.id)
}
