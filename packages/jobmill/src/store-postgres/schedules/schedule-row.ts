/** Schedules as stored. A row is read, changed and written as a whole, under its lock. */
import { isDeepStrictEqual } from 'node:util'
import {
  isRetimed,
  liveSchedule,
  type ScheduleDefinition,
  type SchedulePatch,
} from '../../job/schedule/schedule.ts'
import type { Stamps } from '../../job/schedule/schedule-sources.ts'
import type { ScheduleRecord } from '../../store/types/schedule.ts'
import type { Query, Row } from '../connection/connection.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

/** `deleted` marks a schedule that an operator deleted. Its row stays. */
export interface StoredSchedule extends Omit<ScheduleRecord, 'live' | 'readAt'> {
  readonly deleted: boolean
  readonly stamps: Stamps
}

const COLUMNS = `name, code, version, operator, deleted, revision, created_at, planned, next_at, last_at, last_outcome, last_job,
  missed, error, stamps`
const TYPED = `name text, code json, version int8, operator json, deleted bool, paused bool, revision int8, created_at int8,
  planned bool, next_at int8, last_at int8, last_outcome text, last_job uuid, missed int8, error text, stamps json`
const ALL_COLUMNS = `${COLUMNS}, paused`

/** Locks in the order of the primary key to avoid deadlocks. */
const LOCK = `
WITH ${GIVEN_CTE}, locked AS MATERIALIZED (
  SELECT s.* FROM jobmill.schedule AS s
   WHERE s.name = ANY (ARRAY(SELECT json_array_elements_text(p -> 'names') FROM given)) ORDER BY s.name FOR UPDATE
)
SELECT ${COLUMNS}, now FROM given LEFT JOIN locked ON true`

/** A concurrent insert of the same name waits, and then finds the row. */
const CREATE = `
WITH ${GIVEN_CTE}
INSERT INTO jobmill.schedule (${ALL_COLUMNS})
SELECT x.name, x.code, x.version, x.operator, x.deleted, x.revision, given.now, x.planned, x.next_at, x.last_at, x.last_outcome,
       x.last_job, x.missed, x.error, x.stamps, x.paused
  FROM given, json_to_recordset(p -> 'rows') AS x(${TYPED}) ORDER BY x.name
ON CONFLICT (name) DO NOTHING RETURNING name, created_at`

/** Uses the primary key; the rows are already locked. */
const SAVE = `
WITH ${GIVEN_CTE}
UPDATE jobmill.schedule AS s SET ${ALL_COLUMNS.split(/,\s*/)
  .slice(1)
  .map((column) => `${column} = x.${column}`)
  .join(', ')}
  FROM given, json_to_recordset(p -> 'rows') AS x(${TYPED}) WHERE s.name = x.name`

export function liveOf({ code, operator }: Pick<StoredSchedule, 'code' | 'operator'>): ScheduleDefinition {
  return liveSchedule(code, operator)
}

export function recordOf(
  { deleted: _, stamps: __, ...known }: StoredSchedule,
  readAt: number,
): ScheduleRecord {
  return { ...known, live: liveOf(known), readAt }
}

/** `createdAt` is set by the database when the row is written. */
export function newSchedule(
  name: string,
  source: Partial<Pick<StoredSchedule, 'code' | 'version' | 'operator' | 'stamps'>>,
): StoredSchedule {
  return {
    name,
    code: null,
    version: null,
    operator: {},
    deleted: false,
    revision: 1,
    createdAt: 0,
    planned: false,
    nextAt: null,
    lastAt: null,
    lastOutcome: null,
    lastJob: null,
    missed: 0,
    error: null,
    stamps: {},
    ...source,
  }
}

/** Applies new definitions or overrides to a schedule. */
export function reviseSchedule(
  known: StoredSchedule,
  source: Partial<Pick<StoredSchedule, 'code' | 'version' | 'operator' | 'stamps'>>,
): StoredSchedule {
  const merged = { ...known, ...source }
  const [before, after] = [liveOf(known), liveOf(merged)]
  if (isDeepStrictEqual(before, after)) return merged
  const revised = { ...merged, revision: known.revision + 1 }
  return isRetimed(before, after) ? { ...revised, planned: false, nextAt: null } : revised
}

/** A deleted schedule had no effective definition, so any new one is a change. */
export function bringBack(schedule: StoredSchedule): StoredSchedule {
  return { ...schedule, deleted: false, planned: false, nextAt: null, revision: schedule.revision + 1 }
}

/** Includes deleted schedules. */
export async function lockSchedules(
  context: Context,
  query: Query,
  names: Iterable<string>,
): Promise<{ now: number; byName: Map<string, StoredSchedule> }> {
  const rows = await run(context, query, LOCK, `"names":${JSON.stringify([...new Set(names)])}`)
  const found = rows.filter((row) => row['name'] !== null).map(storedOf)
  return {
    now: rows[0]?.['now'] as number,
    byName: new Map(found.map((schedule) => [schedule.name, schedule])),
  }
}

/** Returns the names that were created, with their creation times. */
export async function createRows(
  context: Context,
  query: Query,
  schedules: readonly StoredSchedule[],
): Promise<Map<string, number>> {
  const rows = await run(context, query, CREATE, rowsField(schedules))
  return new Map(rows.map((row) => [row['name'] as string, row['created_at'] as number]))
}

export async function saveRows(
  context: Context,
  query: Query,
  schedules: readonly StoredSchedule[],
): Promise<void> {
  if (schedules.length > 0) await run(context, query, SAVE, rowsField(schedules))
}

function rowsField(schedules: readonly StoredSchedule[]): string {
  const rows = schedules.map((schedule) => ({
    name: schedule.name,
    code: schedule.code,
    version: schedule.version,
    operator: schedule.operator,
    deleted: schedule.deleted,
    paused: liveOf(schedule).paused,
    revision: schedule.revision,
    created_at: schedule.createdAt,
    planned: schedule.planned,
    next_at: schedule.nextAt,
    last_at: schedule.lastAt,
    last_outcome: schedule.lastOutcome,
    last_job: schedule.lastJob,
    missed: schedule.missed,
    error: schedule.error,
    stamps: schedule.stamps,
  }))
  return `"rows":${JSON.stringify(rows)}`
}

export function storedOf(row: Row): StoredSchedule {
  const code = row['code'] as string | null
  return {
    name: row['name'] as string,
    code: code === null ? null : (JSON.parse(code) as ScheduleDefinition),
    version: row['version'] as number | null,
    operator: JSON.parse(row['operator'] as string) as SchedulePatch,
    deleted: row['deleted'] as boolean,
    revision: row['revision'] as number,
    createdAt: row['created_at'] as number,
    planned: row['planned'] as boolean,
    nextAt: row['next_at'] as number | null,
    lastAt: row['last_at'] as number | null,
    lastOutcome: row['last_outcome'] as ScheduleRecord['lastOutcome'],
    lastJob: row['last_job'] as string | null,
    missed: row['missed'] as number,
    error: row['error'] as string | null,
    stamps: JSON.parse(row['stamps'] as string) as Stamps,
  }
}
