/** Queues: made once, changed by operators, told to whoever asks. */
import type { QueuePatch, QueueSettings } from '../job/queue-settings.ts'
import { type QueueRecord, queueUnknown } from '../store/queue-record.ts'
import { createQueue, settingValues } from './names.ts'
import type { Look, Work } from './work.ts'

const COLUMNS = `id, name, workers, paused, backoff_enabled, backoff_base_ms, backoff_max_ms, retain_done_ms,
  retain_cancelled_ms, retain_dead_ms, cool_until, throttles`

// By the unique name, or all of them in its order.
const ALL = `SELECT ${COLUMNS} FROM jobmill_queue ORDER BY name`
const FIND = `SELECT ${COLUMNS} FROM jobmill_queue WHERE name = ?`
const CHANGE = `
  UPDATE jobmill_queue SET workers = ?, paused = ?, backoff_enabled = ?, backoff_base_ms = ?, backoff_max_ms = ?,
    retain_done_ms = ?, retain_cancelled_ms = ?, retain_dead_ms = ?, cool_until = ? WHERE id = ?`

interface QueueRow {
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
  readonly cool_until: number
  readonly throttles: number
}

export interface DeclaredQueue {
  readonly name: string
  readonly settings: QueueSettings
}

export function declareQueues({ sql, names, counters }: Work, queues: readonly DeclaredQueue[]): void {
  for (const { name, settings } of queues) {
    if (names.findQueue(name) !== undefined) continue
    createQueue(sql, name, settings)
    counters.take('settings')
  }
}

export function changeQueue(work: Work, name: string, patch: QueuePatch): QueueRecord {
  const { sql, now, counters, moves } = work
  const row = sql(FIND).get(name) as QueueRow | undefined
  if (row === undefined) throw queueUnknown(name)
  const settings = { ...settingsOf(row), ...patch.settings }
  const coolUntil = patch.coolMs === null ? row.cool_until : now + patch.coolMs
  sql(CHANGE).run(...settingValues(settings), coolUntil, row.id)
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

function settingsOf(row: QueueRow): QueueSettings {
  return {
    workers: row.workers,
    paused: row.paused === 1,
    backoffEnabled: row.backoff_enabled === 1,
    backoffBaseMs: row.backoff_base_ms,
    backoffMaxMs: row.backoff_max_ms,
    retainDoneMs: row.retain_done_ms,
    retainCancelledMs: row.retain_cancelled_ms,
    retainDeadMs: row.retain_dead_ms,
  }
}
