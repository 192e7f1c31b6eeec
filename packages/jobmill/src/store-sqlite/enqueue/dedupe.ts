/** Dedupe keys: their holder and expiry. All by primary key, under the write lock of the operation. */
import type { Dedupe, HoldAfter } from '../../job/new-job.ts'
import type { Sql } from '../connection/handle.ts'
import { DONE, type JobRow } from '../job-row.ts'

const HOLDER = `SELECT job_id FROM jobmill_dedupe WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)`

// Replaces an expired hold that was not removed yet.
const TAKE = `INSERT OR REPLACE INTO jobmill_dedupe (key, job_id, expires_at) VALUES (?, ?, NULL)`
const HOLD = `UPDATE jobmill_dedupe SET expires_at = ? WHERE key = ? AND job_id = ?`
const FREE = `DELETE FROM jobmill_dedupe WHERE key = ? AND job_id = ?`

type Keyed = Pick<JobRow, 'id' | 'dedupe_key' | 'hold_ms'>

/** The id of the job that holds the key now. */
export function keyHolder(sql: Sql, key: string, now: number): string | undefined {
  return (sql(HOLDER).get(key, now) as { job_id: string } | undefined)?.job_id
}

export function takeKey(sql: Sql, key: string, jobId: string): void {
  sql(TAKE).run(key, jobId)
}

/**
 * The stored form of `hold_ms`: negative when the key is held however the job ended. This needs no extra
 * column or migration. An older release reads it as no hold, and frees the key.
 */
export function keptHold({ holdMs, holdAfter }: Pick<Dedupe, 'holdMs' | 'holdAfter'>): number {
  return holdAfter === 'ended' ? -holdMs : holdMs
}

export function holdOf(kept: number): { readonly holdMs: number; readonly holdAfter: HoldAfter } {
  return { holdMs: Math.abs(kept), holdAfter: kept < 0 ? 'ended' : 'done' }
}

/** After the job ended: keeps the key for the requested time, or frees it. */
export function holdKey(sql: Sql, job: Keyed, endedAs: number, now: number): void {
  if (job.dedupe_key === null) return
  const isHeld = endedAs === DONE ? job.hold_ms !== 0 : job.hold_ms < 0
  if (isHeld) sql(HOLD).run(now + Math.abs(job.hold_ms), job.dedupe_key, job.id)
  else sql(FREE).run(job.dedupe_key, job.id)
}

export function freeKey(sql: Sql, job: Keyed): void {
  if (job.dedupe_key !== null) sql(FREE).run(job.dedupe_key, job.id)
}
