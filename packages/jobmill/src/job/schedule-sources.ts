/** The overrides of schedules, of which values and stamps are kept apart: releases before this one know only the values. */
import {
  dropOverrides,
  overrideEntries,
  type OverrideRecord,
  type Overrides,
  setOverrides,
  type Stamp,
} from './overrides.ts'
import type { ScheduleDefinition, SchedulePatch } from './schedule.ts'

export type Stamps = Readonly<Record<string, Stamp>>

export interface ScheduleSources {
  /** Null for one that was created at run time. */
  readonly code: ScheduleDefinition | null
  /** What an operator set. */
  readonly operator: SchedulePatch
  readonly stamps: Stamps
}

const UNKNOWN: Stamp = { by: null, at: null }

export function overridesOf({ operator, stamps }: Pick<ScheduleSources, 'operator' | 'stamps'>): Overrides {
  return Object.fromEntries(
    Object.entries(operator).map(([option, value]) => [option, { value, ...(stamps[option] ?? UNKNOWN) }]),
  )
}

function sourcesOf(overrides: Overrides): Pick<ScheduleSources, 'operator' | 'stamps'> {
  const entries = Object.entries(overrides)
  return {
    operator: Object.fromEntries(entries.map(([option, { value }]) => [option, value])),
    stamps: Object.fromEntries(entries.map(([option, { by, at }]) => [option, { by, at }])),
  }
}

export function overrideSchedule(
  sources: ScheduleSources,
  patch: SchedulePatch,
  stamp: Stamp,
): Pick<ScheduleSources, 'operator' | 'stamps'> {
  return sourcesOf(setOverrides(overridesOf(sources), patch, { base: sources.code, stamp }))
}

export function resetSchedule(
  sources: ScheduleSources,
  options: readonly string[] | null,
): Pick<ScheduleSources, 'operator' | 'stamps'> {
  return sourcesOf(dropOverrides(overridesOf(sources), options))
}

/** Of one that was created at run time there are none: code has nothing that they would stand on. */
export function scheduleOverrides(name: string, sources: ScheduleSources): OverrideRecord[] {
  const { code } = sources
  if (code === null) return []
  const base: Readonly<Record<string, unknown>> = { ...code }
  return overrideEntries(overridesOf(sources)).map(([option, override]) => ({
    what: 'schedule',
    name,
    option,
    ...override,
    code: base[option] ?? null,
    isInCode: true,
  }))
}
