/** Schedules: the definition in code, overrides, and the live definition. Their ticks, each served once. */
import { isDeepStrictEqual } from 'node:util'
import {
  type DeclaredSchedule,
  dropOverrides,
  droppedOptions,
  isRetimed,
  JobmillError,
  liveSchedule,
  NO_OVERRIDES,
  notInCode,
  overriddenValues,
  overrideSchedule,
  quote,
  type ScheduleDefinition,
  type ScheduleOption,
  type SchedulePatch,
  type ScheduleRecord,
  stampCreation,
  stampDeletion,
  type Tick,
  type Ticked,
  type TickRecord,
} from 'jobmill/store'
import { byName } from './inspect/read.ts'
import { enqueue } from './jobs/enqueue.ts'
import { type OracleSchedule, type OracleState, stampOf } from './state.ts'

export function declareSchedules(state: OracleState, schedules: readonly DeclaredSchedule[]): void {
  for (const { name, version, definition } of schedules) {
    const known = state.schedules.get(name)
    if (known === undefined) {
      const code = { ...definition }
      state.schedules.set(name, { ...newSchedule(state, name), code, version })
    } else if (known.deleted && known.code === null) {
      bringBack(known, { code: { ...definition }, version, overrides: NO_OVERRIDES })
    } else if (version >= (known.version ?? 0)) {
      change(known, { code: { ...definition }, version })
    }
  }
}

export function createSchedule(
  state: OracleState,
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
  const stamp = stampOf(state, by)
  const overrides = stampCreation(known?.code ?? null, { definition, named, stamp })
  const fresh = { ...newSchedule(state, name), overrides }
  const schedule = known ?? fresh
  if (known === undefined) state.schedules.set(name, fresh)
  else {
    const { code, version, revision } = known
    bringBack(Object.assign(known, fresh, { code, version, revision }), {})
  }
  return scheduleRecord(state, schedule)
}

export function changeSchedule(
  state: OracleState,
  name: string,
  patch: SchedulePatch,
  by?: string,
): ScheduleRecord {
  const schedule = need(state, name)
  change(schedule, { overrides: overrideSchedule(schedule, patch, stampOf(state, by)) })
  return scheduleRecord(state, schedule)
}

export function resetScheduleOverrides(
  state: OracleState,
  name: string,
  options: readonly string[] | null,
): string[] {
  const schedule = state.schedules.get(name)
  if (schedule === undefined || (schedule.deleted && schedule.code === null)) throw unknown(name)
  if (schedule.code === null) throw notInCode('schedule', name)
  const before = schedule.overrides
  const overrides = dropOverrides(before, options)
  if (schedule.deleted && !('deleted' in overrides)) bringBack(schedule, { overrides })
  else change(schedule, { overrides })
  return droppedOptions(before, overrides)
}

function need(state: OracleState, name: string): OracleSchedule {
  const schedule = scheduleOf(state, name)
  if (schedule === undefined) throw unknown(name)
  return schedule
}

function unknown(name: string): JobmillError {
  return new JobmillError('SCHEDULE_UNKNOWN', 'no schedule has this name', { value: quote(name) })
}

export function deleteSchedule(state: OracleState, name: string, by?: string): boolean {
  const schedule = scheduleOf(state, name)
  if (schedule === undefined) return false
  schedule.overrides = stampDeletion(schedule, stampOf(state, by))
  schedule.deleted = true
  return true
}

export function scheduleFailed(state: OracleState, name: string, error: string | null): void {
  const schedule = scheduleOf(state, name)
  if (schedule !== undefined) schedule.error = error
}

/** Returns undefined for a deleted schedule. */
function scheduleOf(state: OracleState, name: string): OracleSchedule | undefined {
  const schedule = state.schedules.get(name)
  return schedule?.deleted === true ? undefined : schedule
}

type Source = Partial<Pick<OracleSchedule, 'code' | 'version' | 'overrides'>>

function change(schedule: OracleSchedule, source: Source): void {
  const before = liveSchedule(schedule)
  Object.assign(schedule, source)
  const after = liveSchedule(schedule)
  if (isDeepStrictEqual(before, after)) return
  schedule.revision += 1
  if (isRetimed(before, after)) Object.assign(schedule, { planned: false, nextAt: null })
}

/** There was no live definition, so any value is a change. */
function bringBack(schedule: OracleSchedule, source: Source): void {
  Object.assign(schedule, source, { deleted: false, planned: false, nextAt: null })
  schedule.revision += 1
}

function newSchedule(state: OracleState, name: string): OracleSchedule {
  return {
    name,
    code: null,
    version: null,
    overrides: NO_OVERRIDES,
    revision: 1,
    createdAt: state.now,
    planned: false,
    nextAt: null,
    lastAt: null,
    lastOutcome: null,
    lastJob: null,
    missed: 0,
    error: null,
    deleted: false,
  }
}

function scheduleRecord(state: OracleState, schedule: OracleSchedule): ScheduleRecord {
  const { deleted: _, overrides, ...known } = schedule
  const operator = overriddenValues(overrides)
  return { ...known, operator, live: liveSchedule(schedule), readAt: state.now }
}

export function readSchedules(state: OracleState): ScheduleRecord[] {
  return byName(state.schedules).flatMap(([, schedule]) =>
    schedule.deleted ? [] : [scheduleRecord(state, schedule)],
  )
}

/** Serves planned ticks, each once, with their jobs. */
export function tick(state: OracleState, ticks: readonly Tick[]): Ticked[] {
  return ticks.map((one) => {
    const schedule = scheduleOf(state, one.schedule)
    if (schedule === undefined || !isAccepted(schedule, one))
      return { schedule: one.schedule, accepted: false, fired: [] }
    schedule.nextAt = one.nextAt
    schedule.planned = true
    schedule.missed += one.missed
    schedule.error = null
    const fired = one.fires.flatMap((fire) => serve(state, one.schedule, fire))
    const last = fired.at(-1)
    if (last !== undefined)
      Object.assign(schedule, { lastAt: last.at, lastOutcome: last.outcome, lastJob: last.job })
    return { schedule: one.schedule, accepted: true, fired }
  })
}

function isAccepted(schedule: OracleSchedule, { revision, from }: Tick): boolean {
  if (liveSchedule(schedule).paused || schedule.revision !== revision) return false
  return from === null ? !schedule.planned : schedule.nextAt === from
}

/** Does nothing when this tick was already served. */
function serve(state: OracleState, schedule: string, { at, job }: Tick['fires'][number]): Ticked['fired'] {
  if (state.ticks.some((tick) => tick.schedule === schedule && tick.at === at)) return []
  return enqueue(state, [job]).map(({ id, outcome }) => {
    const served = { at, outcome: outcome === 'duplicate' ? 'skipped' : 'enqueued', job: id } as const
    state.ticks.push({ schedule, ...served, servedAt: state.now })
    return served
  })
}

export function readTicks(state: OracleState, schedule: string, limit: number): TickRecord[] {
  return state.ticks
    .filter((tick) => tick.schedule === schedule)
    .toSorted((a, b) => b.at - a.at)
    .slice(0, limit)
    .map(({ schedule: _, ...tick }) => tick)
}

/** When a schedule must be planned or served, for the heartbeat: 0 for now, null for never. */
export function scheduleInMs(state: OracleState): number | null {
  const active = [...state.schedules.values()].filter((one) => !one.deleted && !liveSchedule(one).paused)
  if (active.some(({ planned }) => !planned)) return 0
  const nexts = active.flatMap(({ nextAt }) => (nextAt === null ? [] : [nextAt]))
  return nexts.length === 0 ? null : Math.max(0, Math.min(...nexts) - state.now)
}
