/** Dedupe keys: their holder and expiry. All by primary key, under the write lock of the operation. */
import { isHeldForTime } from '../../job/enqueue/new-job.ts'
import type { Sql } from '../connection/handle.ts'
import { DONE, FREES_KEY, type JobRow } from '../job-row.ts'

const HOLDER = `SELECT job_id, expires_at FROM jobmill_dedupe WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)`

// Replaces an expired hold that was not removed yet.
const TAKE = `INSERT OR REPLACE INTO jobmill_dedupe (key, job_id, expires_at) VALUES (?, ?, ?)`
const HOLD = `UPDATE jobmill_dedupe SET expires_at = ? WHERE key = ? AND job_id = ?`
// Uses the primary key, after the row was written under the same write lock.
const MARK = `UPDATE jobmill_job SET flags = flags | ${FREES_KEY} WHERE pk = ?`
const FREE = `DELETE FROM jobmill_dedupe WHERE key = ? AND job_id = ?`

export interface KeyHold {
  readonly job_id: string
  readonly expires_at: number | null
}

type Keyed = Pick<JobRow, 'id' | 'dedupe_key' | 'hold_ms' | 'hold_after'>

/** The id of the job that holds the key now. */
export function keyHolder(sql: Sql, key: string, now: number): string | undefined {
  return keyHold(sql, key, now)?.job_id
}

/** `expires_at` is null while the job has not ended, unless it holds the key for a time only. */
export function keyHold(sql: Sql, key: string, now: number): KeyHold | undefined {
  return sql(HOLDER).get(key, now) as KeyHold | undefined
}

/** Without `expiresAt`, until the job ends. */
export function takeKey(sql: Sql, key: string, jobId: string, expiresAt: number | null = null): void {
  sql(TAKE).run(key, jobId, expiresAt)
}

/**
 * After the job ended: keeps the key for the requested time, or frees it. A key that the job holds for a time
 * only does not change.
 */
export function holdKey(sql: Sql, job: Keyed, endedAs: number, now: number): void {
  const { dedupe_key: key, hold_ms: ms, hold_after: after } = job
  if (key === null || ms === null || isHeldForTime(after)) return
  if (ms > 0 && (endedAs === DONE || after === 'ended')) sql(HOLD).run(now + ms, key, job.id)
  else sql(FREE).run(key, job.id)
}

/** Marks a new job, so that its claim knows that it frees the key. */
export function freeKeyAtStart(sql: Sql, pk: number): void {
  sql(MARK).run(pk)
}

/** Moves the expiry of a key that the job holds. */
export function holdKeyUntil(sql: Sql, key: string, jobId: string, until: number): void {
  sql(HOLD).run(until, key, jobId)
}

export function freeKey(sql: Sql, job: Pick<Keyed, 'id' | 'dedupe_key'>): void {
  if (job.dedupe_key !== null) sql(FREE).run(job.dedupe_key, job.id)
}
