/** Releases order locks and dedupe keys whose job does not exist. See store/admin/stray-keys.ts. */
import { STRAY_ROWS, type StrayCounts, warnOfStray } from '../../store/admin/stray-keys.ts'
import type { Sql } from '../connection/handle.ts'
import { orderQueueChanged } from '../enqueue/order-queue.ts'
import type { Read } from '../connection/reader.ts'
import type { Work } from '../work.ts'
import type { Writer } from '../connection/writer.ts'

// The holder is not in the order queue. New jobs reuse primary keys, so the order key must match too.
const HOLDS_LOCK = `
  SELECT 1 FROM jobmill_job AS j
  WHERE j.pk = l.job_pk AND j.queue_id = l.queue_id AND j.order_key = l.order_key AND j.state < 3 AND j.in_order_queue = 0`
// The key of an ended job has an expiry.
const HOLDS_KEY = `SELECT 1 FROM jobmill_job AS j WHERE j.id = d.job_id AND j.state < 3`

// Reads a part of each table in the order of its primary key, and looks up the job of each row by its key.
const LOCKS = `
  SELECT l.queue_id, l.order_key, l.job_pk, EXISTS (${HOLDS_LOCK}) AS held FROM jobmill_order_lock AS l
  WHERE (l.queue_id, l.order_key) > (?, ?) ORDER BY l.queue_id, l.order_key LIMIT ${STRAY_ROWS}`
const KEYS = `
  SELECT d.key, d.job_id, d.expires_at IS NOT NULL OR EXISTS (${HOLDS_KEY}) AS held FROM jobmill_dedupe AS d
  WHERE d.key > ? ORDER BY d.key LIMIT ${STRAY_ROWS}`

const FREE_LOCK = `
  DELETE FROM jobmill_order_lock AS l WHERE l.queue_id = ? AND l.order_key = ? AND l.job_pk = ? AND NOT EXISTS (${HOLDS_LOCK})`
const FREE_KEY = `
  DELETE FROM jobmill_dedupe AS d WHERE d.key = ? AND d.job_id = ? AND d.expires_at IS NULL AND NOT EXISTS (${HOLDS_KEY})`

interface LockRow {
  readonly queue_id: number
  readonly order_key: string
  readonly job_pk: number
  readonly held: number
}

interface KeyRow {
  readonly key: string
  readonly job_id: string
  readonly held: number
}

/** Where the next pass starts, so that a large table is checked in parts. */
export interface StrayCursor {
  lock: readonly [queueId: number, orderKey: string]
  key: string
}

export const strayCursor = (): StrayCursor => ({ lock: [-1, ''], key: '' })

/** Reads without the write lock, which it takes only for rows to release. */
export async function releaseStray(live: {
  readonly read: Read
  readonly writer: Writer
  readonly stray: StrayCursor
}): Promise<void> {
  const { locks, keys } = await live.read(({ sql }) => nextStray(sql, live.stray))
  if (locks.length + keys.length === 0) return
  await live.writer.write(locks.length + keys.length, (work) => release(work, { locks, keys }))
  warnOfStray(locks.length, keys.length)
}

function nextStray(sql: Sql, cursor: StrayCursor) {
  const locks = sql(LOCKS).all(...cursor.lock) as LockRow[]
  const keys = sql(KEYS).all(cursor.key) as KeyRow[]
  const start = strayCursor()
  const [lock, key] = [locks[STRAY_ROWS - 1], keys[STRAY_ROWS - 1]]
  cursor.lock = lock === undefined ? start.lock : [lock.queue_id, lock.order_key]
  cursor.key = key === undefined ? start.key : key.key
  return { locks: locks.filter(isStray), keys: keys.filter(isStray) }
}

function isStray({ held }: { readonly held: number }): boolean {
  return held === 0
}

function release(work: Work, { locks, keys }: ReturnType<typeof nextStray>): void {
  for (const { queue_id: queueId, order_key: orderKey, job_pk: jobPk } of locks) {
    const { changes } = work.sql(FREE_LOCK).run(queueId, orderKey, jobPk)
    if (changes !== 0) orderQueueChanged(work, queueId, orderKey)
  }
  for (const { key, job_id: jobId } of keys) work.sql(FREE_KEY).run(key, jobId)
}

/**
 * For the doctor: reads both tables in full. Does not count permits, because those of jobs look like those of
 * other holders.
 */
export function countStray(sql: Sql): StrayCounts {
  const count = (text: string): number => (sql(`SELECT count(*) AS n FROM ${text}`).get() as { n: number }).n
  return {
    locks: count(`jobmill_order_lock AS l WHERE NOT EXISTS (${HOLDS_LOCK})`),
    keys: count(`jobmill_dedupe AS d WHERE d.expires_at IS NULL AND NOT EXISTS (${HOLDS_KEY})`),
    permits: null,
    states: null,
  }
}
