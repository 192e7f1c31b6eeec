/**
 * Overrides: options that an operator set on top of the code. In effect is the override, else the value in
 * code, else the default. Both stores use these functions for queues, limits and schedules, so that they
 * follow one rule.
 */

/** Entities with options that code declares and an operator can override. */
export const OVERRIDABLE = ['queue', 'limit', 'schedule'] as const
export type Overridable = (typeof OVERRIDABLE)[number]

/** Who set an override, if known, and when, by the database clock. */
export interface Stamp {
  readonly by: string | null
  readonly at: number
}

export interface Override extends Stamp {
  readonly value: unknown
  /** For an option of a limit: the type of the limit in code when it was set; null without a part in code. */
  readonly codeType?: 'rate' | 'concurrency' | null
}

/** Keyed by the store name of the option. */
export type Overrides = Readonly<Record<string, Override>>

/** An override as stores list it. */
export interface OverrideRecord extends Omit<Override, 'codeType'> {
  readonly what: Overridable
  readonly name: string
  readonly option: string
  /** The value after a reset of this option: that in code, or the default; null where there is neither. */
  readonly code: unknown
  /** Whether code sets this option; false where `code` is the default. */
  readonly isInCode: boolean
  /** False for an option of a limit whose type has changed in code since. */
  readonly isApplied: boolean
}

export const NO_OVERRIDES: Overrides = Object.freeze({})

/**
 * The overrides in the form in which stores list them, sorted by option. `about` returns the fields that
 * depend on the code.
 */
export function overrideRecords(
  what: Overridable,
  name: string,
  overrides: Overrides,
  about: (option: string, override: Override) => Pick<OverrideRecord, 'code' | 'isInCode' | 'isApplied'>,
): OverrideRecord[] {
  const entries = Object.entries(overrides).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return entries.map(([option, override]) => {
    const { value, by, at } = override
    return { what, name, option, value, by, at, ...about(option, override) }
  })
}

export function overriddenValues(overrides: Overrides): Record<string, unknown> {
  return Object.fromEntries(Object.entries(overrides).map(([option, { value }]) => [option, value]))
}

/**
 * Sets the options of the patch. `paused: false` is special: if code does not pause, it removes the override,
 * because an operator who resumes wants the queue or schedule as it was. Any other value is an override, even
 * if it equals the one in code: a pause by an operator must outlast the next deploy.
 */
export function setOverrides(
  overrides: Overrides,
  patch: object,
  {
    base,
    stamp,
  }: { readonly base: { readonly paused?: boolean } | null; readonly stamp: Omit<Override, 'value'> },
): Overrides {
  const named = Object.entries(patch).filter(([, value]) => value !== undefined)
  const next = new Map(Object.entries(overrides))
  for (const [option, value] of named) {
    if (option === 'paused' && value === false && base?.paused === false) next.delete(option)
    else if (option in overrides && isSameValue(overrides[option]?.value, value)) continue
    else next.set(option, { value: value as unknown, ...stamp })
  }
  return Object.fromEntries(next)
}

/** Null drops all of them. */
export function dropOverrides(overrides: Overrides, options: readonly string[] | null): Overrides {
  if (options === null) return NO_OVERRIDES
  return Object.fromEntries(Object.entries(overrides).filter(([option]) => !options.includes(option)))
}

/** The options that are overridden before and not after. */
export function droppedOptions(before: Overrides, after: Overrides): string[] {
  return Object.keys(before).filter((option) => !(option in after))
}

/** Option values are JSON: numbers, strings, booleans, null, and lists of strings. */
export function isSameValue(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
