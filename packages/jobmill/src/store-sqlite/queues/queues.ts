/** Queues: declares them from code, applies overrides by operators, and reads the settings in effect. */
import { droppedOptions, type OverrideRecord } from '../../job/queue/overrides.ts'
import {
  effectiveQueue,
  isSameQueue,
  overrideQueue,
  queueOverrides,
  type QueueSources,
  resetQueue,
} from '../../job/queue/queue-sources.ts'
import type { QueuePatch, QueueSettings } from '../../job/queue/queue-settings.ts'
import { type DeclaredQueue, type QueueRecord, queueUnknown } from '../../store/types/queue-record.ts'
import { checkGroups } from '../groups/turns.ts'
import { limitIdOf } from '../limits/limits.ts'
import { createQueue } from '../names.ts'
import { COLUMNS, SELECTED, settingsOf, type SettingsRow, settingValues } from './setting-columns.ts'
import { codeText, sourcesOf, sourceTexts } from './sources.ts'
import type { Look, Work } from '../work.ts'

const SELECT = `
  SELECT q.id, q.name, ${SELECTED},
    (SELECT l.name FROM jobmill_limit AS l WHERE l.id = q.limit_id) AS "limit", q.cool_until, q.throttles, q.code, q.overrides
  FROM jobmill_queue AS q`

// ALL and FIND use the unique index on the name.
const ALL = `${SELECT} ORDER BY q.name`
const FIND = `${SELECT} WHERE q.name = ?`
const SAVE = `
  UPDATE jobmill_queue SET ${COLUMNS.map((column) => `${column} = ?`).join(', ')}, code = ?, overrides = ?,
    cool_until = ?, throttles = ? WHERE id = ?`

export interface QueueRow extends SettingsRow {
  readonly id: number
  readonly name: string
  readonly cool_until: number
  readonly throttles: number
  readonly code: string | null
  readonly overrides: string
}

export function declareQueues(work: Work, given: readonly DeclaredQueue[]): void {
  const queues = given.filter(({ name, unlessDeclared }) => {
    return unlessDeclared !== true || (findRow(work, name)?.code ?? null) === null
  })
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
  const before = sourcesOf(row)
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
  const sources = overrideQueue(sourcesOf(row), patch.settings, { by: by ?? null, at: now })
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
  const before: QueueSources = sourcesOf(row)
  const sources = resetQueue(before, options)
  const dropped = droppedOptions(before.overrides, sources.overrides)
  if (dropped.length === 0) return []
  saveQueue(work, row, { settings: effectiveQueue(sources), sources })
  work.counters.take('settings')
  work.moves.notify(row.id)
  return dropped
}

export function allQueues({ sql }: Look): QueueRow[] {
  return sql(ALL).all() as QueueRow[]
}

export function queues(look: Look): QueueRecord[] {
  return allQueues(look).map((row) => recordOf(row, settingsOf(row), look.now))
}

export function overridesOfQueues(look: Look): OverrideRecord[] {
  return allQueues(look).flatMap((row) => queueOverrides(row.name, sourcesOf(row)))
}

/** Writes all columns of a row except the name. */
export function saveQueue(
  work: Work,
  row: Pick<QueueRow, 'id' | 'cool_until' | 'throttles'>,
  { settings, sources }: { readonly settings: QueueSettings; readonly sources: QueueSources },
): void {
  const values = [...settingValues(settings, limitIdOf(work, settings.limit)), ...sourceTexts(sources)]
  work.sql(SAVE).run(...values, row.cool_until, row.throttles, row.id)
  checkGroups(work, row.id)
}

function findRow({ sql }: Work, name: string): QueueRow | undefined {
  return sql(FIND).get(name) as QueueRow | undefined
}

function need(work: Work, name: string): QueueRow {
  const row = findRow(work, name)
  if (row === undefined) throw queueUnknown(name)
  return row
}

function recordOf(row: QueueRow, settings: QueueSettings, now: number): QueueRecord {
  return {
    name: row.name,
    ...settings,
    coolingMs: Math.max(0, row.cool_until - now),
    throttles: row.throttles,
  }
}
