/** Combines the settings of a limit from code, overrides and defaults. */
import {
  completeLimit,
  isPerKey,
  type LimitParts,
  type LimitSettings,
  neitherRateNorConcurrency,
  type RateParts,
} from './limit.ts'
import {
  dropOverrides,
  isSameValue,
  NO_OVERRIDES,
  type Override,
  overriddenValues,
  type OverrideRecord,
  overrideRecords,
  type Overrides,
  setOverrides,
  type Stamp,
} from '../queue/overrides.ts'

export interface LimitSources {
  /** The options in code at the last declaration; null for a limit that was created at run time. */
  readonly code: LimitParts | null
  readonly overrides: Overrides
}

/**
 * The settings in effect. A type that an operator chose wins over the one in code, until code changes to
 * another type.
 */
export function effectiveLimit(sources: LimitSources): LimitSettings {
  const { code } = sources
  const { most, ...rate } = overriddenValues(appliedOverrides(sources)) as Partial<RateParts> & {
    readonly most?: number
  }
  if (most !== undefined) return { type: 'concurrency', most }
  if (rate.amount === undefined && code?.type === 'concurrency') return code
  return completeLimit({ ...(code?.type === 'rate' ? code : undefined), ...rate, type: 'rate' })
}

/**
 * The number of a rate means nothing for a concurrency limit, and vice versa. So an override applies if code
 * has its type, or still has the type that the operator saw.
 */
function isApplied(code: LimitParts | null, option: string, { codeType }: Override): boolean {
  if (code === null) return true
  const type = option === 'most' ? 'concurrency' : 'rate'
  return code.type === type || code.type === codeType
}

function appliedOverrides({ code, overrides }: LimitSources): Overrides {
  return Object.fromEntries(Object.entries(overrides).filter(([option, one]) => isApplied(code, option, one)))
}

/** A limit that is created at run time has no part in code. */
export function createdLimit(parts: LimitParts, stamp: Stamp): LimitSources {
  const created = { base: null, stamp: { ...stamp, codeType: null } }
  return { code: null, overrides: setOverrides(NO_OVERRIDES, optionsOf(parts), created) }
}

/**
 * Replaces the overrides of the other type that apply: setting a rate replaces a concurrency, and vice versa.
 * Overrides of the other type that do not apply are kept, because they apply again after a rollback of the
 * code. Those of the same type that do not apply are dropped.
 */
export function overrideLimit(sources: LimitSources, parts: LimitParts, stamp: Stamp): LimitSources {
  const { perKey: _, ...options } = optionsOf(parts)
  const { code } = sources
  const isOther = (option: string): boolean => (option === 'most') !== (parts.type === 'concurrency')
  const kept = Object.fromEntries(
    Object.entries(sources.overrides).filter(
      ([option, one]) => option === 'perKey' || isApplied(code, option, one) !== isOther(option),
    ),
  )
  const set = { base: null, stamp: { ...stamp, codeType: code?.type ?? null } }
  const next = { code, overrides: setOverrides(kept, options, set) }
  if (effectiveLimit(next).type !== parts.type) throw neitherRateNorConcurrency('limit')
  return next
}

/** Only code decides whether a limit counts each key separately. An override may only set the same value. */
export function keepsPerKey(parts: LimitParts, perKey: boolean): boolean {
  return parts.type === 'concurrency' ? !perKey : parts.perKey !== true || perKey
}

export function resetLimit(sources: LimitSources, options: readonly string[] | null): LimitSources {
  return { code: sources.code, overrides: dropOverrides(sources.overrides, options) }
}

export function isSameLimit(a: LimitSettings, b: LimitSettings): boolean {
  return isPerKey(a) === isPerKey(b) && isSameValue({ ...a, perKey: 0 }, { ...b, perKey: 0 })
}

/** A limit that was created at run time has no overrides, because there is nothing in code to override. */
export function limitOverrides(name: string, sources: LimitSources): OverrideRecord[] {
  const { code, overrides } = sources
  if (code === null) return []
  const named = optionsOf(code)
  return overrideRecords('limit', name, overrides, (option, override) => {
    const base: Readonly<Record<string, unknown>> = { ...effectiveLimit(resetLimit(sources, [option])) }
    return {
      code: base[option] ?? null,
      isInCode: option in named,
      isApplied: isApplied(code, option, override),
    }
  })
}

function optionsOf({ type: _, ...options }: LimitParts): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}
