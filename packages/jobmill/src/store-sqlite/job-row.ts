/** The columns of a job that operations decide by, and the codes of its states. */
import { STATE_CODE } from '../job/state.ts'
import type { HeldAfter } from '../job/enqueue/new-job.ts'
import type { Sql } from './connection/handle.ts'

/** SQL texts contain the same numbers as literals, because SQLite matches partial indexes by literals. */
export const {
  scheduled: SCHEDULED,
  ready: READY,
  running: RUNNING,
  done: DONE,
  dead: DEAD,
  cancelled: CANCELLED,
} = STATE_CODE

export interface JobRow {
  readonly pk: number
  readonly id: string
  readonly queue_id: number
  readonly kind_id: number
  readonly state: number
  readonly attempt: number
  readonly crashes: number
  readonly in_order_queue: number
  readonly records: number
  readonly token: number
  readonly instance_pk: number | null
  readonly due_at: number
  readonly started_at: number | null
  readonly hold_ms: number | null
  readonly hold_after: HeldAfter | null
  readonly order_key: string | null
  readonly group_name: string | null
  readonly dedupe_key: string | null
  readonly tags: string | null
  readonly cancel_reason: string | null
  readonly log: string | null
  /** See `HAS_PERMITS` and `HAS_STEPS`. */
  readonly flags: number
}

export const ROW = `pk, id, queue_id, kind_id, state, attempt, crashes, in_order_queue, records, token, instance_pk, due_at,
  started_at, hold_ms, hold_after, order_key, group_name, dedupe_key, tags, cancel_reason, log, flags`

/**
 * Flags: has permits to release when it stops running; has steps; was sent events; is a child; its claim
 * frees the dedupe key, and clears this flag.
 */
export const HAS_PERMITS = 1
export const HAS_STEPS = 2
export const HAS_EVENTS = 4
export const IS_CHILD = 8
export const FREES_KEY = 64
/** Has passed the limits of its group, and counts as one of its running jobs. */
export const HAS_PASSED = 16

/** The values of `in_order_queue` of a job that waits for its order lock, or for its group. */
export const IN_ORDER_QUEUE = 1
export const IN_GROUP = 2

// Uses jobmill_job_id. An operation reads and writes under the write lock, so the row cannot change in
// between.
const FIND = `SELECT ${ROW} FROM jobmill_job WHERE id = ?`

// The same for many jobs at once.
const FIND_ALL = `SELECT ${ROW} FROM jobmill_job WHERE id IN (SELECT value FROM json_each(?))`

export function findJobs(sql: Sql, ids: readonly string[]): Map<string, JobRow> {
  const rows = sql(FIND_ALL).all(JSON.stringify(ids)) as JobRow[]
  return new Map(rows.map((row) => [row.id, row]))
}

/** The tags of a row: a JSON array, or null for none. */
export function tagsIn(text: string | null): string[] {
  return text === null ? [] : (JSON.parse(text) as string[])
}

export function findJob(sql: Sql, id: string): JobRow | undefined {
  return sql(FIND).get(id) as JobRow | undefined
}
