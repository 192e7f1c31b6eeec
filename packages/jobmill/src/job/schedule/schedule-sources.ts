/** The definition of a schedule from code and overrides. */
import {
  isSameValue,
  NO_OVERRIDES,
  overriddenValues,
  type OverrideRecord,
  overrideRecords,
  type Overrides,
  setOverrides,
  type Stamp,
} from '../queue/overrides.ts'
import {
  SCHEDULE_KEYS,
  type ScheduleDefinition,
  type ScheduleOption,
  type SchedulePatch,
} from './schedule.ts'

export interface ScheduleSources {
  /** Null for a schedule that was created at run time. */
  readonly code: ScheduleDefinition | null
  /** The options that an operator set. Of a deleted schedule that code defines: only the deletion. */
  readonly overrides: Overrides
}

/** The definition in effect. */
export function liveSchedule({ code, overrides }: ScheduleSources): ScheduleDefinition {
  // One of the two is complete: the definition in code, or the one that an operator created at run time.
  return { ...code, ...overriddenValues(overrides) } as ScheduleDefinition
}

export function overrideSchedule(sources: ScheduleSources, patch: SchedulePatch, stamp: Stamp): Overrides {
  return setOverrides(sources.overrides, patch, { base: sources.code, stamp })
}

export interface Creation {
  readonly definition: ScheduleDefinition
  /** The options that the operator set explicitly; the others are defaults. */
  readonly named: readonly ScheduleOption[]
  readonly stamp: Stamp
}

/**
 * The overrides of a schedule created at run time. If code defines a deleted schedule with this name, a
 * default that equals the value in code is not an override, so that the option follows code from then on.
 */
export function stampCreation(
  code: ScheduleDefinition | null,
  { definition, named, stamp }: Creation,
): Overrides {
  const isSet = (option: ScheduleOption): boolean =>
    code === null || named.includes(option) || !isSameValue(code[option], definition[option])
  const patch: SchedulePatch = Object.fromEntries(
    SCHEDULE_KEYS.filter(isSet).map((option) => [option, definition[option]]),
  )
  return overrideSchedule({ code, overrides: NO_OVERRIDES }, patch, stamp)
}

/**
 * The deletion drops the other overrides, so that its reset restores the definition in code. Without a
 * definition in code, they are the definition.
 */
export function stampDeletion({ code, overrides }: ScheduleSources, stamp: Stamp): Overrides {
  return code === null ? overrides : { deleted: { value: true, ...stamp } }
}

/** A schedule that was created at run time has no overrides, because there is nothing in code to override. */
export function scheduleOverrides(name: string, { code, overrides }: ScheduleSources): OverrideRecord[] {
  if (code === null) return []
  const base: Readonly<Record<string, unknown>> = { ...code, deleted: false }
  return overrideRecords('schedule', name, overrides, (option) => {
    return { code: base[option] ?? null, isInCode: true, isApplied: true }
  })
}
