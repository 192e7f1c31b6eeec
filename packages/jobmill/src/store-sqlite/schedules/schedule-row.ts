/** A stored schedule. It is read, changed and written as a whole, under the write lock. */
import { liveSchedule, type ScheduleDefinition, type SchedulePatch } from '../../job/schedule/schedule.ts'
import type { Stamps } from '../../job/schedule/schedule-sources.ts'
import type { ScheduleRecord } from '../../store/types/schedule.ts'
import type { Sql } from '../connection/handle.ts'

const COLUMNS = `name, code, version, operator, deleted, revision, created_at, planned, next_at, last_at, last_outcome,
  last_job, missed, error, stamps`

// By primary key, or all of them in its order: few enough to read.
const FIND = `SELECT ${COLUMNS} FROM jobmill_schedule WHERE name = ?`
const ALL = `SELECT ${COLUMNS} FROM jobmill_schedule ORDER BY name`
const SAVE = `
  INSERT OR REPLACE INTO jobmill_schedule (${COLUMNS}, due_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

export interface StoredSchedule extends Omit<ScheduleRecord, 'live' | 'readAt'> {
  readonly deleted: boolean
  readonly stamps: Stamps
}

interface Row {
  readonly name: string
  readonly code: string | null
  readonly version: number | null
  readonly operator: string
  readonly deleted: number
  readonly revision: number
  readonly created_at: number
  readonly planned: number
  readonly next_at: number | null
  readonly last_at: number | null
  readonly last_outcome: ScheduleRecord['lastOutcome']
  readonly last_job: string | null
  readonly missed: number
  readonly error: string | null
  readonly stamps: string
}

export function liveOf({ code, operator }: StoredSchedule): ScheduleDefinition {
  return liveSchedule(code, operator)
}

/** Includes a deleted schedule, whose row stays as a marker. */
export function findStored(sql: Sql, name: string): StoredSchedule | undefined {
  const row = sql(FIND).get(name) as Row | undefined
  return row === undefined ? undefined : storedOf(row)
}

/** Undefined if it was deleted. */
export function findSchedule(sql: Sql, name: string): StoredSchedule | undefined {
  const schedule = findStored(sql, name)
  return schedule?.deleted === true ? undefined : schedule
}

export function allSchedules(sql: Sql): StoredSchedule[] {
  return allStored(sql).filter(({ deleted }) => !deleted)
}

/** Includes deleted schedules. */
export function allStored(sql: Sql): StoredSchedule[] {
  return (sql(ALL).all() as Row[]).map(storedOf)
}

export function saveSchedule(sql: Sql, schedule: StoredSchedule): void {
  sql(SAVE).run(
    schedule.name,
    schedule.code === null ? null : JSON.stringify(schedule.code),
    schedule.version,
    JSON.stringify(schedule.operator),
    Number(schedule.deleted),
    schedule.revision,
    schedule.createdAt,
    Number(schedule.planned),
    schedule.nextAt,
    schedule.lastAt,
    schedule.lastOutcome,
    schedule.lastJob,
    schedule.missed,
    schedule.error,
    JSON.stringify(schedule.stamps),
    dueAt(schedule),
  )
}

export function recordOf(schedule: StoredSchedule, now: number): ScheduleRecord {
  const { deleted: _, stamps: __, ...known } = schedule
  return { ...known, live: liveOf(schedule), readAt: now }
}

/** A schedule that is not planned yet is due now, to be planned. */
function dueAt(schedule: StoredSchedule): number | null {
  if (schedule.deleted || liveOf(schedule).paused) return null
  return schedule.planned ? schedule.nextAt : 0
}

function storedOf(row: Row): StoredSchedule {
  return {
    name: row.name,
    code: row.code === null ? null : (JSON.parse(row.code) as ScheduleDefinition),
    version: row.version,
    operator: JSON.parse(row.operator) as SchedulePatch,
    deleted: row.deleted === 1,
    revision: row.revision,
    createdAt: row.created_at,
    planned: row.planned === 1,
    nextAt: row.next_at,
    lastAt: row.last_at,
    lastOutcome: row.last_outcome,
    lastJob: row.last_job,
    missed: row.missed,
    error: row.error,
    stamps: JSON.parse(row.stamps) as Stamps,
  }
}
