// Figures of many rounds made into one line each: median, least and most.
import type { Figure } from '../case.ts'
import type { Setting, StoreName } from '../system.ts'

/** One figure of one cell. */
export interface Raw extends Figure {
  readonly store: StoreName
  readonly system: string
  readonly setting: Setting
  /** How many jobs the cell was about. */
  readonly jobs: number
}

export interface Summary {
  readonly case: string
  readonly store: StoreName
  readonly system: string
  readonly setting: Setting
  readonly unit: string
  readonly median: number
  readonly min: number
  readonly max: number
  readonly jobs: number
  /** In the order of the rounds. */
  readonly values: readonly number[]
}

/** In the order in which they were first seen. */
export function summarize(figures: readonly Raw[]): Summary[] {
  const groups = Map.groupBy(figures, (one) => [one.case, one.store, one.system, one.setting].join(' '))
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const { case: name, store, system, setting, unit, jobs } = first
    const values = group.map(({ value }) => rounded(value))
    const [min, max] = [Math.min(...values), Math.max(...values)]
    return [{ case: name, store, system, setting, unit, median: median(values), min, max, jobs, values }]
  })
}

/** The middle one; of an even number, half-way between the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) / 2
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return low === undefined || high === undefined ? Number.NaN : rounded((low + high) / 2)
}

/** More digits than that are noise, and make a file hard to read. */
const rounded = (value: number): number => Number(value.toPrecision(6))
