/** The acts of an operator, counted by type, and their comparison with those of a rival. */

export interface Effort {
  readonly clicks: number
  /** A filter or search: reach its field with one click, type it, press Enter. */
  readonly queries: number
  /** A value typed into a form, including the click into its field. */
  readonly values: number
  readonly keys: number
}

export const NO_EFFORT: Effort = { clicks: 0, queries: 0, values: 0, keys: 0 }

export const effort = (some: Partial<Effort>): Effort => ({ ...NO_EFFORT, ...some })

/** A click may take the place of something typed, but not the other way around. */
export function isWithin(ours: Effort, bound: Effort): boolean {
  const typed = ({ queries, values }: Effort): number => queries + values
  const acts = (one: Effort): number => one.clicks + typed(one)
  return ours.keys <= bound.keys && typed(ours) <= typed(bound) && acts(ours) <= acts(bound)
}

const UNITS = [
  ['clicks', 'click'],
  ['queries', 'query'],
  ['values', 'value'],
  ['keys', 'key'],
] as const

/** "2 clicks + 1 query"; "nothing" for no effort. */
export function effortText(one: Effort): string {
  const parts = UNITS.filter(([many]) => one[many] > 0).map(
    ([many, unit]) => `${one[many]} ${one[many] === 1 ? unit : many}`,
  )
  return parts.length === 0 ? 'nothing' : parts.join(' + ')
}
