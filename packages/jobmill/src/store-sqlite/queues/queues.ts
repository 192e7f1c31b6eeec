/** Queues: declares them from code, applies overrides by operators, and reads the settings in effect. */
import { droppedOptions, type OverrideRecord } from '../../job/queue/overrides.ts'
import {
  effectiveQueue,
  isDeclared,
  isSameQueue,
  keptQueue,
  overrideQueue,
  queueOverrides,
  type QueueSources,
  resetQueue,
} from '../../job/queue/queue-sources.ts'
import type { QueuePatch, QueueSettings } from '../../job/queue/queue-settings.ts'
import { type DeclaredQueue, type QueueRecord, queueUnknown } from '../../store/types/queue-record.ts'
import { limitIdOf } from '../limits/limits.ts'
import { createQueue, settingValues } from '../names.ts'
import { codeText, sourcesOf } from './sources.ts'
import type { Look, Work } from '../work.ts'

const SELECT = `
  SELECT q.id, q.name, q.workers, q.paused, q.backoff_enabled, q.backoff_base_ms, q.backoff_max_ms, q.retain_done_ms,
    q.retain_cancelled_ms, q.retain_dead_ms, q.keep_done, q.keep_cancelled, q.keep_dead,
    (SELECT l.name FROM jobmill_limit AS l WHERE l.id = q.limit_id) AS limit_name, q.cool_until, q.throttles, q.declared,
    q.code, q.overrides
  FROM jobmill_queue AS q`

// By the unique name, or all of them in its order.
export const ALL = `${SELECT} ORDER BY q.name`
const FIND = `${SELECT} WHERE q.name = ?`
const SAVE = `
  UPDATE jobmill_queue SET workers = ?, paused = ?, backoff_enabled = ?, backoff_base_ms = ?, backoff_max_ms = ?,
    retain_done_ms = ?, retain_cancelled_ms = ?, retain_dead_ms = ?, keep_done = ?, keep_cancelled = ?,
    keep_dead = ?, limit_id = ?, declared = ?, code = ?, overrides = ?, cool_until = ?, throttles = ? WHERE id = ?`

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
  readonly code: string | null
  readonly overrides: string
}

export function declareQueues(work: Work, queues: readonly DeclaredQueue[]): void {
  // Checks all limits before the first write, including those that an override replaces.
  for (const { settings } of queues) limitIdOf(work, settings?.limit ?? null)
  for (const { name, settings } of queues) {
    const isNew = work.names.findQueue(name) === undefined
    if (isNew) createQueue(work.sql, name)
    const isChanged = settings !== null && declareAgain(work, need(work, name), settings)
    if (isNew || isChanged) work.counters.take('settings')
  }
}

/** Returns whether the settings in effect changed. */
function declareAgain(work: Work, row: QueueRow, code: Partial<QueueSettings>): boolean {
  const before = queueSources(row)
  const sources = { code, overrides: before.overrides }
  const settings = effectiveQueue(sources)
  const isChanged = !isSameQueue(settings, settingsOf(row))
  if (isChanged || codeText(code) !== row.code) saveQueue(work, row, { settings, sources })
  if (isChanged) work.moves.notify(row.id)
  return isChanged
}

export function changeQueue(work: Work, name: string, patch: QueuePatch, by?: string): QueueRecord {
  const { now } = work
  const row = need(work, name)
  const sources = overrideQueue(queueSources(row), patch.settings, { by: by ?? null, at: now })
  const coolUntil = patch.coolMs === null ? row.cool_until : now + patch.coolMs
  const settings = effectiveQueue(sources)
  saveQueue(work, { ...row, cool_until: coolUntil }, { settings, sources })
  work.counters.take('settings')
  // The change may have ended a pause or a cool-down.
  work.moves.notify(row.id)
  return recordOf({ ...row, cool_until: coolUntil }, settings, now)
}

export function resetQueueOverrides(work: Work, name: string, options: readonly string[] | null): string[] {
  const row = need(work, name)
  const before = queueSources(row)
  const sources = resetQueue(before, options)
  const dropped = droppedOptions(before.overrides, sources.overrides)
  if (dropped.length === 0) return []
  saveQueue(work, row, { settings: effectiveQueue(sources), sources })
  work.counters.take('settings')
  work.moves.notify(row.id)
  return dropped
}

export function queues({ sql, now }: Look): QueueRecord[] {
  return (sql(ALL).all() as QueueRow[]).map((row) => recordOf(row, settingsOf(row), now))
}

export function overridesOfQueues({ sql }: Look): OverrideRecord[] {
  return (sql(ALL).all() as QueueRow[]).flatMap((row) => queueOverrides(row.name, queueSources(row)))
}

/** Writes all columns of a row except its name. */
export function saveQueue(
  work: Work,
  row: Pick<QueueRow, 'id' | 'cool_until' | 'throttles'>,
  { settings, sources }: { readonly settings: QueueSettings; readonly sources: QueueSources },
): void {
  work
    .sql(SAVE)
    .run(
      ...settingValues(settings, limitIdOf(work, settings.limit)),
      Number(isDeclared(sources)),
      codeText(sources.code),
      JSON.stringify(sources.overrides),
      row.cool_until,
      row.throttles,
      row.id,
    )
}

function need({ sql }: Work, name: string): QueueRow {
  const row = sql(FIND).get(name) as QueueRow | undefined
  if (row === undefined) throw queueUnknown(name)
  return row
}

export function queueSources(row: QueueRow): QueueSources {
  return keptQueue({ ...sourcesOf(row), declared: row.declared === 1 }, settingsOf(row))
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
