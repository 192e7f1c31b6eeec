/** Schedules: declares them from code, applies changes by operators, and reads the definitions in effect. */
import { isDeepStrictEqual } from 'node:util'
import type { OverrideRecord } from '../../job/queue/overrides.ts'
import type { SchedulePatch } from '../../job/schedule/schedule.ts'
import {
  type Creation,
  liveSchedule,
  overrideSchedule,
  scheduleOverrides,
} from '../../job/schedule/schedule-sources.ts'
import { scheduleUnknown } from '../../store/cluster-errors.ts'
import { columnOf } from '../../store/column-of.ts'
import * as stored from '../../store/stored-schedule.ts'
import type { DeclaredSchedule, ScheduleRecord } from '../../store/types/schedule.ts'
import type { Sql, Value } from '../connection/handle.ts'
import { sourcesOf } from '../queues/sources.ts'
import type { Look, Work } from '../work.ts'

const FIELDS = Object.keys(stored.newSchedule('', {})) as (keyof stored.StoredSchedule)[]
const COLUMNS = FIELDS.map(columnOf).join(', ')
const SELECTED = FIELDS.map((field) => `${columnOf(field)} AS ${field}`).join(', ')

// Uses the primary key, or reads all schedules in its order, because there are few.
const FIND = `SELECT ${SELECTED} FROM jobmill_schedule WHERE name = ?`
const ALL = `SELECT ${SELECTED} FROM jobmill_schedule ORDER BY name`
const SAVE = `INSERT OR REPLACE INTO jobmill_schedule (${COLUMNS}, due_at) VALUES (${FIELDS.map(() => '?').join(', ')}, ?)`

/** The columns that differ from the fields of a schedule: numbers for booleans, and JSON. */
interface Coded {
  readonly code: string | null
  readonly overrides: string
  readonly deleted: number
  readonly planned: number
}

type Row = Coded & Omit<stored.StoredSchedule, keyof Coded>

/** Includes a deleted schedule, whose row stays as a marker. */
function findStored(sql: Sql, name: string): stored.StoredSchedule | undefined {
  const row = sql(FIND).get(name) as Row | undefined
  return row === undefined ? undefined : storedOf(row)
}

/** Undefined if it was deleted. */
export function findSchedule(sql: Sql, name: string): stored.StoredSchedule | undefined {
  const schedule = findStored(sql, name)
  return schedule?.deleted === true ? undefined : schedule
}

/** Includes deleted schedules. */
export function allStored(sql: Sql): stored.StoredSchedule[] {
  return (sql(ALL).all() as Row[]).map(storedOf)
}

export function saveSchedule(sql: Sql, schedule: stored.StoredSchedule): void {
  sql(SAVE).run(...FIELDS.map((field) => valueOf(schedule[field])), dueAt(schedule))
}

function valueOf(value: stored.StoredSchedule[keyof stored.StoredSchedule]): Value {
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}

/** A schedule that is not planned yet is due now, to be planned. */
function dueAt(schedule: stored.StoredSchedule): number | null {
  if (schedule.deleted || liveSchedule(schedule).paused) return null
  return schedule.planned ? schedule.nextAt : 0
}

function storedOf(row: Row): stored.StoredSchedule {
  return { ...row, ...sourcesOf(row), deleted: row.deleted === 1, planned: row.planned === 1 }
}

export function declareSchedules(work: Work, schedules: readonly DeclaredSchedule[]): void {
  for (const declared of schedules) {
    const { name, version, definition: code } = declared
    const known = findStored(work.sql, name)
    if (known !== undefined) save(work, known, stored.redeclareSchedule(known, declared))
    else saveSchedule(work.sql, stored.newSchedule(name, { code, version, createdAt: work.now }))
  }
}

type New = Omit<Creation, 'stamp'>

export function createSchedule(work: Work, name: string, given: New, by?: string): ScheduleRecord {
  const creation = { ...given, stamp: { by: by ?? null, at: work.now } }
  const schedule = stored.createSchedule(name, findStored(work.sql, name), creation)
  saveSchedule(work.sql, schedule)
  return stored.recordOf(schedule, work.now)
}

export function changeSchedule(work: Work, name: string, patch: SchedulePatch, by?: string): ScheduleRecord {
  const known = findSchedule(work.sql, name)
  if (known === undefined) throw scheduleUnknown(name)
  const overrides = overrideSchedule(known, patch, { by: by ?? null, at: work.now })
  const changed = stored.reviseSchedule(known, { overrides })
  save(work, known, changed)
  return stored.recordOf(changed, work.now)
}

export function resetScheduleOverrides(
  work: Work,
  name: string,
  options: readonly string[] | null,
): string[] {
  const { after, dropped } = stored.resetSchedule(name, findStored(work.sql, name), options)
  if (dropped.length > 0) saveSchedule(work.sql, after)
  return dropped
}

export function overridesOfSchedules({ sql }: Look): OverrideRecord[] {
  return allStored(sql).flatMap((schedule) => scheduleOverrides(schedule.name, schedule))
}

export function deleteSchedule({ sql, now }: Work, name: string, by?: string): boolean {
  const known = findSchedule(sql, name)
  if (known !== undefined) saveSchedule(sql, stored.deleteSchedule(known, { by: by ?? null, at: now }))
  return known !== undefined
}

export function scheduleFailed(work: Work, name: string, error: string | null): void {
  const known = findSchedule(work.sql, name)
  if (known !== undefined) save(work, known, { ...known, error })
}

export function schedules({ sql, now }: Look): ScheduleRecord[] {
  return allStored(sql).flatMap((schedule) => (schedule.deleted ? [] : stored.recordOf(schedule, now)))
}

/** Writes only changes. */
function save({ sql }: Work, before: stored.StoredSchedule, after: stored.StoredSchedule): void {
  if (!isDeepStrictEqual(before, after)) saveSchedule(sql, after)
}
