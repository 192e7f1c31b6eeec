/**
 * Overrides: options that an operator set, on top of what code declares. What counts is the override, else the value in code, else the default.
 * Stores keep the three parts of queues, limits and schedules by these functions, so that all of them follow one rule.
 */

/** What has options that code declares and an operator can override. */
export const OVERRIDABLE = ['queue', 'limit', 'schedule'] as const
export type Overridable = (typeof OVERRIDABLE)[number]

/** Who set an override, and when by the database's clock. Null where a release wrote it that did not keep this. */
export interface Stamp {
  readonly by: string | null
  readonly at: number | null
}

export interface Override extends Stamp {
  readonly value: unknown
}

/** By option, as stores name it. */
export type Overrides = Readonly<Record<string, Override>>

/** An override as stores list it. */
export interface OverrideRecord extends Override {
  readonly what: Overridable
  readonly name: string
  readonly option: string
  /** What counts after a reset of this option: the value in code, or the default; null where there is none. */
  readonly code: unknown
  /** Whether code names this option; false where `code` is the default. */
  readonly isInCode: boolean
}

export const NO_OVERRIDES: Overrides = Object.freeze({})

export function hasOverrides(overrides: Overrides): boolean {
  return Object.keys(overrides).length > 0
}

/** In the order of a list: by option. */
export function overrideEntries(overrides: Overrides): [string, Override][] {
  return Object.entries(overrides).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

export function overriddenValues(overrides: Overrides): Record<string, unknown> {
  return Object.fromEntries(Object.entries(overrides).map(([option, { value }]) => [option, value]))
}

/**
 * Sets the options that the patch names. A pause is the exception: back at what code says, it leaves no override behind. An operator who pauses and
 * resumes wants the queue or schedule as it was before, and every other value is one that an operator chose to keep.
 */
export function setOverrides(
  overrides: Overrides,
  patch: object,
  { base, stamp }: { readonly base: { readonly paused?: boolean } | null; readonly stamp: Stamp },
): Overrides {
  const named = Object.entries(patch).filter(([, value]) => value !== undefined)
  const next = new Map(Object.entries(overrides))
  for (const [option, value] of named) {
    if (option === 'paused' && base?.paused === value) next.delete(option)
    else if (option in overrides && isSameValue(overrides[option]?.value, value)) continue
    else next.set(option, { value: value as unknown, ...stamp })
  }
  return Object.fromEntries(next)
}

/** Null for all of them. */
export function dropOverrides(overrides: Overrides, options: readonly string[] | null): Overrides {
  if (options === null) return NO_OVERRIDES
  return Object.fromEntries(Object.entries(overrides).filter(([option]) => !options.includes(option)))
}

/** The options that are overridden before and not after. */
export function droppedOptions(before: Overrides, after: Overrides): string[] {
  return Object.keys(before).filter((option) => !(option in after))
}

/** Values of options are JSON: numbers, texts, booleans, null, and lists of texts. */
export function isSameValue(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
