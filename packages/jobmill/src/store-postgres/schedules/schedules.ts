/** Schedules: definitions from code, overrides by operators, and the effective result. */
import { isDeepStrictEqual } from 'node:util'
import type { ScheduleDefinition, ScheduleOption, SchedulePatch } from '../../job/schedule/schedule.ts'
import { droppedOptions, type OverrideRecord } from '../../job/queue/overrides.ts'
import {
  stampCreation,
  stampDeletion,
  overridesOf,
  overrideSchedule,
  resetSchedule,
  scheduleOverrides,
} from '../../job/schedule/schedule-sources.ts'
import { notInCode, scheduleExists, scheduleUnknown } from '../../store/cluster-errors.ts'
import { inRounds } from '../../store/rounds.ts'
import type { DeclaredSchedule, ScheduleRecord } from '../../store/types/schedule.ts'
import type { Query } from '../connection/connection.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'
import { now } from '../connection/now.ts'
import {
  bringBack,
  reviseSchedule,
  createRows,
  lockSchedules,
  newSchedule,
  recordOf,
  saveRows,
  storedOf,
  type StoredSchedule,
} from './schedule-row.ts'

const SCHEDULES = `
WITH ${GIVEN_CTE}
SELECT s.*, g.now FROM given AS g, jobmill.schedule AS s WHERE NOT s.deleted ORDER BY s.name COLLATE "C"`

/** Includes deleted schedules, because the deletion is an override. The table is small. */
const OVERRIDES = `
WITH ${GIVEN_CTE}
SELECT s.*, g.now FROM given AS g, jobmill.schedule AS s ORDER BY s.name COLLATE "C"`

/** Uses the primary key, and writes only changes. */
const FAILED = `
WITH ${GIVEN_CTE}
UPDATE jobmill.schedule AS s SET error = g.p ->> 'error' FROM given AS g
 WHERE s.name = g.p ->> 'name' AND NOT s.deleted AND s.error IS DISTINCT FROM g.p ->> 'error'`

/** Several declarations of one name apply one after the other. */
export async function declareSchedules(
  context: Context,
  schedules: readonly DeclaredSchedule[],
): Promise<void> {
  const rounds = inRounds(schedules, ({ name }) => name)
  if (rounds.length === 0) return
  await context.connection.transaction(async (query) => {
    for (const round of rounds) await declareOnce(context, query, round)
  })
}

async function declareOnce(
  context: Context,
  query: Query,
  schedules: readonly DeclaredSchedule[],
): Promise<void> {
  const fresh = schedules.map(({ name, version, definition }) =>
    newSchedule(name, { code: definition, version }),
  )
  const created = await createRows(context, query, fresh)
  const known = schedules.filter(({ name }) => !created.has(name))
  if (known.length === 0) return
  const { byName } = await lockSchedules(
    context,
    query,
    known.map(({ name }) => name),
  )
  const changed = known.flatMap((declared) => {
    const before = byName.get(declared.name)
    if (before === undefined) return []
    const after = redeclare(before, declared)
    return isDeepStrictEqual(before, after) ? [] : [after]
  })
  await saveRows(context, query, changed)
}

function redeclare(known: StoredSchedule, { version, definition: code }: DeclaredSchedule): StoredSchedule {
  if (known.deleted && known.code === null)
    return bringBack({ ...known, code, version, operator: {}, stamps: {} })
  // A deleted schedule stays deleted. A later reset restores the definition that was declared last.
  return version >= (known.version ?? 0) ? reviseSchedule(known, { code, version }) : known
}

export function createSchedule(
  context: Context,
  name: string,
  definition: ScheduleDefinition,
  by?: string,
  named: readonly ScheduleOption[] = [],
): Promise<ScheduleRecord> {
  return context.connection.transaction(async (query) => {
    const stamp = { by: by ?? null, at: await now(context, query) }
    const fresh = newSchedule(name, stampCreation(null, { definition, named, stamp }))
    const createdAt = (await createRows(context, query, [fresh])).get(name)
    if (createdAt !== undefined) return recordOf({ ...fresh, createdAt }, createdAt)
    const { now: at, byName } = await lockSchedules(context, query, [name])
    const known = byName.get(name)
    if (known?.deleted !== true) throw scheduleExists(name)
    const { code, version, revision } = known
    const operators = stampCreation(code, { definition, named, stamp })
    const back = bringBack({ ...fresh, ...operators, code, version, revision, createdAt: at })
    await saveRows(context, query, [back])
    return recordOf(back, at)
  })
}

export function changeSchedule(
  context: Context,
  name: string,
  patch: SchedulePatch,
  by?: string,
): Promise<ScheduleRecord> {
  return context.connection.transaction(async (query) => {
    const { at, known } = await lockOne(context, query, name)
    const changed = reviseSchedule(known, overrideSchedule(known, patch, { by: by ?? null, at }))
    if (!isDeepStrictEqual(known, changed)) await saveRows(context, query, [changed])
    return recordOf(changed, at)
  })
}

export function resetScheduleOverrides(
  context: Context,
  name: string,
  options: readonly string[] | null,
): Promise<string[]> {
  return context.connection.transaction(async (query) => {
    const known = (await lockSchedules(context, query, [name])).byName.get(name)
    if (known === undefined || (known.deleted && known.code === null)) throw scheduleUnknown(name)
    if (known.code === null) throw notInCode('schedule', name)
    const left = resetSchedule(known, options)
    const dropped = droppedOptions(overridesOf(known), overridesOf(left))
    const after = known.deleted ? bringBack({ ...known, ...left }) : reviseSchedule(known, left)
    if (dropped.length > 0) await saveRows(context, query, [after])
    return dropped
  })
}

export async function overridesOfSchedules(context: Context): Promise<OverrideRecord[]> {
  const rows = await run(context, context.connection.query, OVERRIDES, '')
  return rows.map(storedOf).flatMap((schedule) => scheduleOverrides(schedule.name, schedule))
}

async function lockOne(
  context: Context,
  query: Query,
  name: string,
): Promise<{ readonly at: number; readonly known: StoredSchedule }> {
  const { now: at, byName } = await lockSchedules(context, query, [name])
  const known = byName.get(name)
  if (known === undefined || known.deleted) throw scheduleUnknown(name)
  return { at, known }
}

/**
 * Only marks the row. A restart must not recreate it, and a plan made before must not match a new schedule of
 * the same name.
 */
export function deleteSchedule(context: Context, name: string, by?: string): Promise<boolean> {
  return context.connection.transaction(async (query) => {
    const { now: at, byName } = await lockSchedules(context, query, [name])
    const known = byName.get(name)
    if (known === undefined || known.deleted) return false
    const operators = stampDeletion(known, { by: by ?? null, at })
    await saveRows(context, query, [{ ...known, ...operators, deleted: true }])
    return true
  })
}

export async function scheduleFailed(context: Context, name: string, error: string | null): Promise<void> {
  const fields = JSON.stringify({ name, error }).slice(1, -1)
  await run(context, context.connection.query, FAILED, fields)
}

export async function schedules(context: Context): Promise<ScheduleRecord[]> {
  const rows = await run(context, context.connection.query, SCHEDULES, '')
  return rows.map((row) => recordOf(storedOf(row), row['now'] as number))
}
