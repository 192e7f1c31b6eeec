/** The rows of schedules. A row is read, changed and written as a whole, under its lock. */
import { liveSchedule } from '../../job/schedule/schedule-sources.ts'
import { columnOf } from '../../store/column-of.ts'
import { newSchedule, type StoredSchedule } from '../../store/stored-schedule.ts'
import type { Row } from '../connection/connection.ts'
import { ask, columnsOf, type Context } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'
import { sourcesOf } from '../queues/queue-rows.ts'

const FIELDS = Object.keys(newSchedule('', {})) as (keyof StoredSchedule)[]
const COLUMNS = [...FIELDS.map(columnOf), 'paused']
const TYPED = `name text, code json, version int8, overrides json, deleted bool, paused bool, revision int8, created_at int8,
  planned bool, next_at int8, last_at int8, last_outcome text, last_job uuid, missed int8, error text`

/** Locks in the order of the primary key to avoid deadlocks. */
const LOCK = `
WITH ${GIVEN_CTE}, locked AS MATERIALIZED (
  SELECT s.* FROM jobmill.schedule AS s
   WHERE s.name = ANY (ARRAY(SELECT json_array_elements_text(p -> 'names') FROM given)) ORDER BY s.name FOR UPDATE
)
SELECT locked.*, now FROM given LEFT JOIN locked ON true`

/** A concurrent insert of the same name waits, and then finds the row. */
const CREATE = `
WITH ${GIVEN_CTE}
INSERT INTO jobmill.schedule (${COLUMNS.join(', ')})
SELECT ${COLUMNS.map((column) => (column === 'created_at' ? 'given.now' : `x.${column}`)).join(', ')}
  FROM given, json_to_recordset(p -> 'rows') AS x(${TYPED}) ORDER BY x.name
ON CONFLICT (name) DO NOTHING RETURNING name, created_at`

/** Uses the primary key; the rows are already locked. */
const SAVE = `
WITH ${GIVEN_CTE}
UPDATE jobmill.schedule AS s SET ${COLUMNS.slice(1)
  .map((column) => `${column} = x.${column}`)
  .join(', ')}
  FROM given, json_to_recordset(p -> 'rows') AS x(${TYPED}) WHERE s.name = x.name`

/** Includes deleted schedules. */
export async function lockSchedules(
  inside: Context,
  names: Iterable<string>,
): Promise<{ now: number; byName: Map<string, StoredSchedule> }> {
  const rows = await ask(inside, LOCK, { names: [...new Set(names)] })
  const found = rows.filter((row) => row['name'] !== null).map(storedOf)
  return {
    now: rows[0]?.['now'] as number,
    byName: new Map(found.map((schedule) => [schedule.name, schedule])),
  }
}

/** Returns the names that were created, with their creation times. */
export async function createRows(
  inside: Context,
  schedules: readonly StoredSchedule[],
): Promise<Map<string, number>> {
  const rows = schedules.map(rowOf)
  const created = await ask<{ name: string; created_at: number }>(inside, CREATE, { rows })
  return new Map(created.map(({ name, created_at: createdAt }) => [name, createdAt]))
}

export async function saveRows(inside: Context, schedules: readonly StoredSchedule[]): Promise<void> {
  if (schedules.length > 0) await ask(inside, SAVE, { rows: schedules.map(rowOf) })
}

function rowOf(schedule: StoredSchedule): object {
  return { ...columnsOf(schedule), paused: liveSchedule(schedule).paused }
}

export function storedOf(row: Row): StoredSchedule {
  const fields: unknown = Object.fromEntries(FIELDS.map((field) => [field, row[columnOf(field)]]))
  return { ...(fields as StoredSchedule), ...sourcesOf(row) }
}
