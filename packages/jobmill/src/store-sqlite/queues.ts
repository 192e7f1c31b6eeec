/** Queues: made once, changed by operators, told to whoever asks. */
import { type QueuePatch, type QueueSettings, saysMore } from '../job/queue-settings.ts'
import { type QueueRecord, queueUnknown } from '../store/queue-record.ts'
import { limitIdOf } from './limits.ts'
import { createQueue, settingValues } from './names.ts'
import type { Look, Work } from './work.ts'

const SELECT = `
  SELECT q.id, q.name, q.workers, q.paused, q.backoff_enabled, q.backoff_base_ms, q.backoff_max_ms, q.retain_done_ms,
    q.retain_cancelled_ms, q.retain_dead_ms, q.keep_done, q.keep_cancelled, q.keep_dead,
    (SELECT l.name FROM jobmill_limit AS l WHERE l.id = q.limit_id) AS limit_name, q.cool_until, q.throttles, q.declared
  FROM jobmill_queue AS q`

// By the unique name, or all of them in its order.
export const ALL = `${SELECT} ORDER BY q.name`
const FIND = `${SELECT} WHERE q.name = ?`
const CHANGE = `
  UPDATE jobmill_queue SET workers = ?, paused = ?, backoff_enabled = ?, backoff_base_ms = ?, backoff_max_ms = ?,
    retain_done_ms = ?, retain_cancelled_ms = ?, retain_dead_ms = ?, keep_done = ?, keep_cancelled = ?,
    keep_dead = ?, limit_id = ?, declared = 1, cool_until = ? WHERE id = ?`

export interface QueueRow {
  readonly id: number
  readonly name: string
  readonly workers: number | null
  readonly paused: number
  readonly backoff_enabled: number
  readonly backoff_base_ms: number
  readonly backoff_max_ms: number
  readonly retain_done_ms: number | null
  readonly retain_cancelled_ms: number | null
  readonly retain_dead_ms: number | null
  readonly keep_done: number | null
  readonly keep_cancelled: number | null
  readonly keep_dead: number | null
  readonly limit_name: string | null
  readonly cool_until: number
  readonly throttles: number
  readonly declared: number
}

export interface DeclaredQueue {
  readonly name: string
  readonly settings: QueueSettings
}

export function declareQueues(work: Work, queues: readonly DeclaredQueue[]): void {
  const { sql, names, counters, moves } = work
  // All limits before the first write, also those of queues that are there already.
  const limitIds = queues.map(({ settings }) => limitIdOf(work, settings.limit))
  for (const [at, { name, settings }] of queues.entries()) {
    const limitId = limitIds[at] ?? null
    if (names.findQueue(name) === undefined) createQueue(sql, name, settings, limitId)
    else {
      const row = sql(FIND).get(name) as QueueRow
      // What somebody said before stays: an operator may have changed it.
      if (row.declared === 1 || !saysMore(settings)) continue
      sql(CHANGE).run(...settingValues(settings, limitId), row.cool_until, row.id)
      moves.ring(row.id)
    }
    counters.take('settings')
  }
}

export function changeQueue(work: Work, name: string, patch: QueuePatch): QueueRecord {
  const { sql, now, counters, moves } = work
  const row = sql(FIND).get(name) as QueueRow | undefined
  if (row === undefined) throw queueUnknown(name)
  const settings = { ...settingsOf(row), ...patch.settings }
  const coolUntil = patch.coolMs === null ? row.cool_until : now + patch.coolMs
  sql(CHANGE).run(...settingValues(settings, limitIdOf(work, settings.limit)), coolUntil, row.id)
  counters.take('settings')
  // A pause or a cool-down may have ended just now.
  moves.ring(row.id)
  return recordOf({ ...row, cool_until: coolUntil }, settings, now)
}

export function queues({ sql, now }: Look): QueueRecord[] {
  return (sql(ALL).all() as QueueRow[]).map((row) => recordOf(row, settingsOf(row), now))
}

function recordOf(row: QueueRow, settings: QueueSettings, now: number): QueueRecord {
  return {
    name: row.name,
    ...settings,
    coolingMs: Math.max(0, row.cool_until - now),
    throttles: row.throttles,
  }
}

export function settingsOf(row: QueueRow): QueueSettings {
  return {
    workers: row.workers,
    paused: row.paused === 1,
    backoffEnabled: row.backoff_enabled === 1,
    backoffBaseMs: row.backoff_base_ms,
    backoffMaxMs: row.backoff_max_ms,
    retainDoneMs: row.retain_done_ms,
    retainCancelledMs: row.retain_cancelled_ms,
    retainDeadMs: row.retain_dead_ms,
    keepDone: row.keep_done,
    keepCancelled: row.keep_cancelled,
    keepDead: row.keep_dead,
    limit: row.limit_name,
  }
}
