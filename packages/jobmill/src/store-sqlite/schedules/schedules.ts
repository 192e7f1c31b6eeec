/** Schedules: declares them from code, applies changes by operators, and reads the definitions in effect. */
import { isDeepStrictEqual } from 'node:util'
import {
  isRetimed,
  type ScheduleDefinition,
  type ScheduleOption,
  type SchedulePatch,
} from '../../job/schedule/schedule.ts'
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
import type { DeclaredSchedule, ScheduleRecord } from '../../store/types/schedule.ts'
import {
  allSchedules,
  allStored,
  findSchedule,
  findStored,
  liveOf,
  recordOf,
  saveSchedule,
  type StoredSchedule,
} from './schedule-row.ts'
import type { Look, Work } from '../work.ts'

export function declareSchedules(work: Work, schedules: readonly DeclaredSchedule[]): void {
  for (const { name, version, definition: code } of schedules) {
    const known = findStored(work.sql, name)
    if (known === undefined) saveSchedule(work.sql, { ...newSchedule(name, work.now), code, version })
    else if (known.deleted && known.code === null)
      bringBack(work, { ...known, code, version, operator: {}, stamps: {} })
    // A deleted schedule stays deleted. A later reset restores the definition that was declared last.
    else if (version >= (known.version ?? 0)) change(work, known, { code, version })
  }
}

export function createSchedule(
  work: Work,
  name: string,
  definition: ScheduleDefinition,
  by?: string,
  named: readonly ScheduleOption[] = [],
): ScheduleRecord {
  const known = findStored(work.sql, name)
  if (known?.deleted === false) throw scheduleExists(name)
  const stamp = { by: by ?? null, at: work.now }
  const operators = stampCreation(known?.code ?? null, { definition, named, stamp })
  const fresh = { ...newSchedule(name, work.now), ...operators }
  if (known === undefined) {
    saveSchedule(work.sql, fresh)
    return recordOf(fresh, work.now)
  }
  const { code, version, revision } = known
  return recordOf(bringBack(work, { ...fresh, code, version, revision }), work.now)
}

export function changeSchedule(work: Work, name: string, patch: SchedulePatch, by?: string): ScheduleRecord {
  const schedule = need(work, name)
  const set = overrideSchedule(schedule, patch, { by: by ?? null, at: work.now })
  return recordOf(change(work, schedule, set), work.now)
}

export function resetScheduleOverrides(
  work: Work,
  name: string,
  options: readonly string[] | null,
): string[] {
  const schedule = findStored(work.sql, name)
  if (schedule === undefined || (schedule.deleted && schedule.code === null)) throw scheduleUnknown(name)
  if (schedule.code === null) throw notInCode('schedule', name)
  const left = resetSchedule(schedule, options)
  if (schedule.deleted && !left.deleted) bringBack(work, { ...schedule, ...left })
  else change(work, schedule, left)
  return droppedOptions(overridesOf(schedule), overridesOf(left))
}

export function overridesOfSchedules({ sql }: Look): OverrideRecord[] {
  return allStored(sql).flatMap((schedule) => scheduleOverrides(schedule.name, schedule))
}

function need({ sql }: Work, name: string): StoredSchedule {
  const schedule = findSchedule(sql, name)
  if (schedule === undefined) throw scheduleUnknown(name)
  return schedule
}

export function deleteSchedule({ sql, now }: Work, name: string, by?: string): boolean {
  const schedule = findSchedule(sql, name)
  if (schedule === undefined) return false
  // Only marked as deleted: a start must not restore it, and an instance that planned it before must not
  // mistake a new schedule of this name for it.
  saveSchedule(sql, { ...schedule, ...stampDeletion(schedule, { by: by ?? null, at: now }), deleted: true })
  return true
}

export function scheduleFailed({ sql }: Work, name: string, error: string | null): void {
  const schedule = findSchedule(sql, name)
  if (schedule !== undefined && schedule.error !== error) saveSchedule(sql, { ...schedule, error })
}

export function schedules({ sql, now }: Look): ScheduleRecord[] {
  return allSchedules(sql).map((schedule) => recordOf(schedule, now))
}

type Source = Partial<Pick<StoredSchedule, 'code' | 'version' | 'operator' | 'stamps'>>

/** Saves a schedule, with a new revision if its definition in effect changed. */
function change({ sql }: Work, known: StoredSchedule, source: Source): StoredSchedule {
  const merged = { ...known, ...source }
  const [before, after] = [liveOf(known), liveOf(merged)]
  const revised = isDeepStrictEqual(before, after) ? merged : { ...merged, revision: known.revision + 1 }
  const changed = isRetimed(before, after) ? { ...revised, planned: false, nextAt: null } : revised
  if (!isDeepStrictEqual(known, changed)) saveSchedule(sql, changed)
  return changed
}

/** A deleted schedule had no definition in effect, so restoring it is always a change. */
function bringBack({ sql }: Work, schedule: StoredSchedule): StoredSchedule {
  const back = { ...schedule, deleted: false, planned: false, nextAt: null, revision: schedule.revision + 1 }
  saveSchedule(sql, back)
  return back
}

function newSchedule(name: string, now: number): StoredSchedule {
  return {
    name,
    code: null,
    version: null,
    operator: {},
    deleted: false,
    revision: 1,
    createdAt: now,
    planned: false,
    nextAt: null,
    lastAt: null,
    lastOutcome: null,
    lastJob: null,
    missed: 0,
    error: null,
    stamps: {},
  }
}
