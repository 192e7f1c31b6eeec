/**
 * The overrides of schedules. Values and stamps are stored separately, because older releases know only the
 * values.
 */
import {
  dropOverrides,
  isSameValue,
  overrideEntries,
  type OverrideRecord,
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

export type Stamps = Readonly<Record<string, Stamp>>

export interface ScheduleSources {
  /** Null for a schedule that was created at run time. */
  readonly code: ScheduleDefinition | null
  /** The options that an operator set. */
  readonly operator: SchedulePatch
  readonly stamps: Stamps
  /** Whether an operator deleted it. Its row stays, so that a deploy does not restore it. */
  readonly deleted: boolean
}

type OperatorPart = Pick<ScheduleSources, 'operator' | 'stamps'>

const UNKNOWN: Stamp = { by: null, at: null }

/** A deleted schedule has no override other than the deletion. */
export function overridesOf({ operator, stamps, deleted }: Omit<ScheduleSources, 'code'>): Overrides {
  if (deleted) return { deleted: { value: true, ...(stamps['deleted'] ?? UNKNOWN) } }
  return Object.fromEntries(
    Object.entries(operator).map(([option, value]) => [option, { value, ...(stamps[option] ?? UNKNOWN) }]),
  )
}

function sourcesOf(overrides: Overrides): OperatorPart {
  const entries = Object.entries(overrides)
  return {
    operator: Object.fromEntries(entries.map(([option, { value }]) => [option, value])),
    stamps: Object.fromEntries(entries.map(([option, { by, at }]) => [option, { by, at }])),
  }
}

export function overrideSchedule(sources: ScheduleSources, patch: SchedulePatch, stamp: Stamp): OperatorPart {
  return sourcesOf(setOverrides(overridesOf(sources), patch, { base: sources.code, stamp }))
}

export interface Creation {
  readonly definition: ScheduleDefinition
  /** The options that the operator set explicitly; the others are defaults. */
  readonly named: readonly ScheduleOption[]
  readonly stamp: Stamp
}

/**
 * The operator's part of a schedule created at run time. If code defines a deleted schedule with this name, a
 * default that equals the value in code is no override, so that the option follows code from then on.
 */
export function stampCreation(
  code: ScheduleDefinition | null,
  { definition, named, stamp }: Creation,
): OperatorPart {
  const isSet = (option: ScheduleOption): boolean =>
    code === null || named.includes(option) || !isSameValue(code[option], definition[option])
  const patch: SchedulePatch = Object.fromEntries(
    SCHEDULE_KEYS.filter(isSet).map((option) => [option, definition[option]]),
  )
  return overrideSchedule({ code, operator: {}, stamps: {}, deleted: false }, patch, stamp)
}

/** The deletion drops the other overrides, so that its reset restores the definition in code. */
export function stampDeletion({ code, operator, stamps }: ScheduleSources, stamp: Stamp): OperatorPart {
  // Without a definition in code, the row has only the operator's part.
  return code === null ? { operator, stamps } : { operator: {}, stamps: { deleted: stamp } }
}

export function resetSchedule(
  sources: ScheduleSources,
  options: readonly string[] | null,
): OperatorPart & Pick<ScheduleSources, 'deleted'> {
  const { operator, stamps, deleted } = sources
  if (!deleted) return { ...sourcesOf(dropOverrides(overridesOf(sources), options)), deleted }
  const isReset = options === null || options.includes('deleted')
  return isReset ? { operator: {}, stamps: {}, deleted: false } : { operator, stamps, deleted }
}

/** A schedule that was created at run time has no overrides, because there is nothing in code to override. */
export function scheduleOverrides(name: string, sources: ScheduleSources): OverrideRecord[] {
  const { code } = sources
  if (code === null) return []
  const base: Readonly<Record<string, unknown>> = { ...code, deleted: false }
  return overrideEntries(overridesOf(sources)).map(([option, override]) => ({
    what: 'schedule',
    name,
    option,
    ...override,
    code: base[option] ?? null,
    isInCode: true,
    isApplied: true,
  }))
}
