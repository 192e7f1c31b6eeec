/**
 * A schedule as both stores keep it, and how declarations and operators change it. A store reads it, applies
 * one of these functions and writes it as a whole, under its lock.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  dropOverrides,
  droppedOptions,
  NO_OVERRIDES,
  type Overrides,
  overriddenValues,
  type Stamp,
} from '../job/queue/overrides.ts'
import { isRetimed } from '../job/schedule/schedule.ts'
import {
  type Creation,
  liveSchedule,
  stampCreation,
  stampDeletion,
} from '../job/schedule/schedule-sources.ts'
import { notInCode, scheduleExists, scheduleUnknown } from './cluster-errors.ts'
import type { DeclaredSchedule, ScheduleRecord, Tick } from './types/schedule.ts'

export interface StoredSchedule extends Omit<ScheduleRecord, 'operator' | 'live' | 'readAt'> {
  readonly overrides: Overrides
  /** An operator deleted it. Its row stays, so that a start of the code does not restore it. */
  readonly deleted: boolean
}

export function recordOf(schedule: StoredSchedule, readAt: number): ScheduleRecord {
  const { deleted: _, overrides, ...known } = schedule
  return {
    ...known,
    operator: overriddenValues(overrides),
    live: liveSchedule(schedule),
    readAt,
  }
}

export function newSchedule(name: string, source: Partial<StoredSchedule>): StoredSchedule {
  return {
    name,
    code: null,
    version: null,
    overrides: NO_OVERRIDES,
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
    ...source,
  }
}

/** Applies a new definition or new overrides. */
export function reviseSchedule(
  known: StoredSchedule,
  source: Partial<Pick<StoredSchedule, 'code' | 'version' | 'overrides'>>,
): StoredSchedule {
  const merged = { ...known, ...source }
  const [before, after] = [liveSchedule(known), liveSchedule(merged)]
  if (isDeepStrictEqual(before, after)) return merged
  const revised = { ...merged, revision: known.revision + 1 }
  return isRetimed(before, after) ? { ...revised, planned: false, nextAt: null } : revised
}

/** A deleted schedule had no definition in effect, so any new one is a change. */
function restore(schedule: StoredSchedule): StoredSchedule {
  return { ...schedule, deleted: false, planned: false, nextAt: null, revision: schedule.revision + 1 }
}

export function redeclareSchedule(
  known: StoredSchedule,
  { version, definition: code }: DeclaredSchedule,
): StoredSchedule {
  if (known.deleted && known.code === null)
    return restore({ ...known, code, version, overrides: NO_OVERRIDES })
  // A deleted schedule stays deleted. A later reset restores the definition that was declared last.
  return version >= (known.version ?? 0) ? reviseSchedule(known, { code, version }) : known
}

/** `known`: the deleted schedule of this name, if there is one. */
export function createSchedule(
  name: string,
  known: StoredSchedule | undefined,
  creation: Creation,
): StoredSchedule {
  if (known?.deleted === false) throw scheduleExists(name)
  const overrides = stampCreation(known?.code ?? null, creation)
  const fresh = newSchedule(name, { overrides, createdAt: creation.stamp.at })
  if (known === undefined) return fresh
  const { code, version, revision } = known
  return restore({ ...fresh, code, version, revision })
}

/**
 * Only marks the row as deleted: the next start must not restore the schedule, and a plan made before the
 * deletion must not match a new schedule of the same name.
 */
export function deleteSchedule(known: StoredSchedule, stamp: Stamp): StoredSchedule {
  return { ...known, overrides: stampDeletion(known, stamp), deleted: true }
}

export function resetSchedule(
  name: string,
  known: StoredSchedule | undefined,
  options: readonly string[] | null,
): { readonly after: StoredSchedule; readonly dropped: string[] } {
  if (known === undefined || (known.deleted && known.code === null)) throw scheduleUnknown(name)
  if (known.code === null) throw notInCode('schedule', name)
  const overrides = dropOverrides(known.overrides, options)
  const dropped = droppedOptions(known.overrides, overrides)
  const isRestored = known.deleted && dropped.length > 0
  return {
    after: isRestored ? restore({ ...known, overrides }) : reviseSchedule(known, { overrides }),
    dropped,
  }
}

/** Whether the schedule is unchanged since the tick was planned, and no other instance has served it. */
export function isCurrent(schedule: StoredSchedule, { revision, from }: Tick): boolean {
  if (schedule.deleted || liveSchedule(schedule).paused || schedule.revision !== revision) return false
  return from === null ? !schedule.planned : schedule.nextAt === from
}
