/** The overrides of schedules, of which values and stamps are kept apart: releases before this one know only the values. */
import {
  dropOverrides,
  isSameValue,
  overrideEntries,
  type OverrideRecord,
  type Overrides,
  setOverrides,
  type Stamp,
} from './overrides.ts'
import {
  SCHEDULE_KEYS,
  type ScheduleDefinition,
  type ScheduleOption,
  type SchedulePatch,
} from './schedule.ts'

export type Stamps = Readonly<Record<string, Stamp>>

export interface ScheduleSources {
  /** Null for one that was created at run time. */
  readonly code: ScheduleDefinition | null
  /** What an operator set. */
  readonly operator: SchedulePatch
  readonly stamps: Stamps
  /** Whether an operator deleted it. Its row stays, so that a deploy does not bring it back. */
  readonly deleted: boolean
}

type OperatorPart = Pick<ScheduleSources, 'operator' | 'stamps'>

const UNKNOWN: Stamp = { by: null, at: null }

/** The deletion is the only override of a deleted schedule. */
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
  /** The options that the operator named; the others are defaults. */
  readonly named: readonly ScheduleOption[]
  readonly stamp: Stamp
}

/**
 * The operator's part of a schedule that is created at run time. Where code defines a schedule of this name that was deleted, a default that equals the
 * value in code is no override, so that the option follows code from then on.
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

/** The other overrides end with the deletion, so that its reset restores what code says. */
export function stampDeletion({ code, operator, stamps }: ScheduleSources, stamp: Stamp): OperatorPart {
  // Without a definition in code, the operator's part is the only one that the row has.
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

/** Of one that was created at run time there are none: code has nothing that they would stand on. */
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
  }))
}
