/** Schedules: the definition in code, overrides, and the live definition. */
import { isDeepStrictEqual } from 'node:util'
import {
  type DeclaredSchedule,
  droppedOptions,
  isRetimed,
  JobmillError,
  liveSchedule,
  notInCode,
  overrideSchedule,
  overridesOf,
  quote,
  resetSchedule,
  type ScheduleDefinition,
  type ScheduleOption,
  type SchedulePatch,
  type ScheduleRecord,
  stampCreation,
  stampDeletion,
} from 'jobmill/store'
import { byName } from '../inspect/read.ts'
import type { OracleSchedule, OracleState } from '../state.ts'

export function declareSchedules(
  state: OracleState,
  now: number,
  schedules: readonly DeclaredSchedule[],
): void {
  for (const { name, version, definition } of schedules) {
    const known = state.schedules.get(name)
    if (known === undefined) {
      const code = { ...definition }
      state.schedules.set(name, { ...newSchedule(now, name), code, version })
    } else if (known.deleted && known.code === null) {
      bringBack(known, { code: { ...definition }, version, operator: {}, stamps: {} })
    } else if (version >= (known.version ?? 0)) {
      change(known, { code: { ...definition }, version })
    }
  }
}

export function createSchedule(
  state: OracleState,
  now: number,
  name: string,
  definition: ScheduleDefinition,
  by?: string,
  named: readonly ScheduleOption[] = [],
): ScheduleRecord {
  const known = state.schedules.get(name)
  if (known !== undefined && !known.deleted)
    throw new JobmillError('SCHEDULE_EXISTS', 'a schedule with this name already exists', {
      value: quote(name),
    })
  const stamp = { by: by ?? null, at: now }
  const operators = stampCreation(known?.code ?? null, { definition, named, stamp })
  const fresh = { ...newSchedule(now, name), ...operators }
  const schedule = known ?? fresh
  if (known === undefined) state.schedules.set(name, fresh)
  else {
    const { code, version, revision } = known
    bringBack(Object.assign(known, fresh, { code, version, revision }), {})
  }
  return scheduleRecord(now, schedule)
}

export function changeSchedule(
  state: OracleState,
  now: number,
  name: string,
  patch: SchedulePatch,
  by?: string,
): ScheduleRecord {
  const schedule = need(state, name)
  change(schedule, overrideSchedule(schedule, patch, { by: by ?? null, at: now }))
  return scheduleRecord(now, schedule)
}

export function resetScheduleOverrides(
  state: OracleState,
  name: string,
  options: readonly string[] | null,
): string[] {
  const schedule = state.schedules.get(name)
  if (schedule === undefined || (schedule.deleted && schedule.code === null)) throw unknown(name)
  if (schedule.code === null) throw notInCode('schedule', name)
  const before = overridesOf(schedule)
  const left = resetSchedule(schedule, options)
  if (schedule.deleted && !left.deleted) bringBack(schedule, left)
  else change(schedule, left)
  return droppedOptions(before, overridesOf(schedule))
}

function need(state: OracleState, name: string): OracleSchedule {
  const schedule = scheduleOf(state, name)
  if (schedule === undefined) throw unknown(name)
  return schedule
}

function unknown(name: string): JobmillError {
  return new JobmillError('SCHEDULE_UNKNOWN', 'no schedule has this name', { value: quote(name) })
}

export function deleteSchedule(state: OracleState, now: number, name: string, by?: string): boolean {
  const schedule = scheduleOf(state, name)
  if (schedule === undefined) return false
  Object.assign(schedule, stampDeletion(schedule, { by: by ?? null, at: now }), { deleted: true })
  return true
}

export function scheduleFailed(state: OracleState, name: string, error: string | null): void {
  const schedule = scheduleOf(state, name)
  if (schedule !== undefined) schedule.error = error
}

/** Returns undefined for a deleted schedule. */
export function scheduleOf(state: OracleState, name: string): OracleSchedule | undefined {
  const schedule = state.schedules.get(name)
  return schedule?.deleted === true ? undefined : schedule
}

export function liveOf({ code, operator }: OracleSchedule): ScheduleDefinition {
  return liveSchedule(code, operator)
}

type Source = Partial<Pick<OracleSchedule, 'code' | 'version' | 'operator' | 'stamps'>>

function change(schedule: OracleSchedule, source: Source): void {
  const before = liveOf(schedule)
  Object.assign(schedule, source)
  const after = liveOf(schedule)
  if (isDeepStrictEqual(before, after)) return
  schedule.revision += 1
  if (isRetimed(before, after)) Object.assign(schedule, { planned: false, nextAt: null })
}

/** There was no live definition, so any value is a change. */
function bringBack(schedule: OracleSchedule, source: Source): void {
  Object.assign(schedule, source, { deleted: false, planned: false, nextAt: null })
  schedule.revision += 1
}

function newSchedule(now: number, name: string): OracleSchedule {
  return {
    name,
    code: null,
    version: null,
    operator: {},
    revision: 1,
    createdAt: now,
    planned: false,
    nextAt: null,
    lastAt: null,
    lastOutcome: null,
    lastJob: null,
    missed: 0,
    error: null,
    deleted: false,
    stamps: {},
  }
}

function scheduleRecord(now: number, schedule: OracleSchedule): ScheduleRecord {
  const { deleted: _, stamps: __, ...known } = schedule
  return { ...known, live: liveOf(schedule), readAt: now }
}

export function readSchedules(state: OracleState, now: number): ScheduleRecord[] {
  return byName(state.schedules).flatMap(([, schedule]) =>
    schedule.deleted ? [] : [scheduleRecord(now, schedule)],
  )
}
