/** Schedules: definitions from code, overrides by operators, and the effective result. */
import { isDeepStrictEqual } from 'node:util'
import type { OverrideRecord } from '../../job/queue/overrides.ts'
import type { ScheduleDefinition, ScheduleOption, SchedulePatch } from '../../job/schedule/schedule.ts'
import { overrideSchedule, scheduleOverrides } from '../../job/schedule/schedule-sources.ts'
import { scheduleUnknown } from '../../store/cluster-errors.ts'
import { inRounds } from '../../store/batch/rounds.ts'
import * as stored from '../../store/stored-schedule.ts'
import type { DeclaredSchedule, ScheduleRecord } from '../../store/types/schedule.ts'
import { now } from '../connection/now.ts'
import { ask, type Context, inTransaction } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'
import { createRows, lockSchedules, saveRows, storedOf } from './schedule-row.ts'

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

/** Runs a change of schedules, and notifies all instances, because any of them may lead the duty. */
async function changing<T>(context: Context, work: (inside: Context) => Promise<T>): Promise<T> {
  const done = await inTransaction(context, work)
  context.notifier.notifyAll()
  return done
}

/** Several declarations of one name apply one after the other. */
export async function declareSchedules(
  context: Context,
  schedules: readonly DeclaredSchedule[],
): Promise<void> {
  const rounds = inRounds(schedules, ({ name }) => name)
  if (rounds.length === 0) return
  const isChanged = await inTransaction(context, async (inside) => {
    let hasChanged = false
    for (const round of rounds) hasChanged = (await declareOnce(inside, round)) || hasChanged
    return hasChanged
  })
  if (isChanged) context.notifier.notifyAll()
}

async function declareOnce(inside: Context, schedules: readonly DeclaredSchedule[]): Promise<boolean> {
  const fresh = schedules.map(({ name, version, definition }) =>
    stored.newSchedule(name, { code: definition, version }),
  )
  const created = await createRows(inside, fresh)
  const known = schedules.filter(({ name }) => !created.has(name))
  if (known.length === 0) return true
  const names = known.map(({ name }) => name)
  const { byName } = await lockSchedules(inside, names)
  const changed = known.flatMap((declared) => {
    const before = byName.get(declared.name)
    if (before === undefined) return []
    const after = stored.redeclareSchedule(before, declared)
    return isDeepStrictEqual(before, after) ? [] : [after]
  })
  await saveRows(inside, changed)
  return created.size + changed.length > 0
}

export function createSchedule(
  context: Context,
  name: string,
  definition: ScheduleDefinition,
  by: string | null = null,
  named: readonly ScheduleOption[] = [],
): Promise<ScheduleRecord> {
  return changing(context, async (inside) => {
    const creation = { definition, named, stamp: { by, at: await now(inside) } }
    const fresh = stored.createSchedule(name, undefined, creation)
    const createdAt = (await createRows(inside, [fresh])).get(name)
    if (createdAt !== undefined) return stored.recordOf({ ...fresh, createdAt }, createdAt)
    const { at, known } = await lockOne(inside, name)
    const back = stored.createSchedule(name, known, { ...creation, stamp: { by, at } })
    await saveRows(inside, [back])
    return stored.recordOf(back, at)
  })
}

export function changeSchedule(
  context: Context,
  name: string,
  patch: SchedulePatch,
  by: string | null = null,
): Promise<ScheduleRecord> {
  return changing(context, async (inside) => {
    const { at, known } = await lockOne(inside, name)
    if (known === undefined || known.deleted) throw scheduleUnknown(name)
    const changed = stored.reviseSchedule(known, { overrides: overrideSchedule(known, patch, { by, at }) })
    if (!isDeepStrictEqual(known, changed)) await saveRows(inside, [changed])
    return stored.recordOf(changed, at)
  })
}

export function resetScheduleOverrides(
  context: Context,
  name: string,
  options: readonly string[] | null,
): Promise<string[]> {
  return changing(context, async (inside) => {
    const { known } = await lockOne(inside, name)
    const { after, dropped } = stored.resetSchedule(name, known, options)
    if (dropped.length > 0) await saveRows(inside, [after])
    return dropped
  })
}

export function deleteSchedule(context: Context, name: string, by: string | null = null): Promise<boolean> {
  return inTransaction(context, async (inside) => {
    const { at, known } = await lockOne(inside, name)
    if (known === undefined || known.deleted) return false
    await saveRows(inside, [stored.deleteSchedule(known, { by, at })])
    return true
  })
}

/** Includes a deleted schedule. */
async function lockOne(
  inside: Context,
  name: string,
): Promise<{ readonly at: number; readonly known: stored.StoredSchedule | undefined }> {
  const { now: at, byName } = await lockSchedules(inside, [name])
  return { at, known: byName.get(name) }
}

export async function overridesOfSchedules(context: Context): Promise<OverrideRecord[]> {
  const rows = (await ask(context, OVERRIDES)).map(storedOf)
  return rows.flatMap((schedule) => scheduleOverrides(schedule.name, schedule))
}

export async function scheduleFailed(context: Context, name: string, error: string | null): Promise<void> {
  await ask(context, FAILED, { name, error })
}

export async function schedules(context: Context): Promise<ScheduleRecord[]> {
  const rows = await ask(context, SCHEDULES)
  return rows.map((row) => stored.recordOf(storedOf(row), row['now'] as number))
}
