// Summarizes the figures of many rounds: median, minimum and maximum.
import type { Figure } from '../case.ts'
import type { Setting, StoreName } from '../system.ts'

/** One figure of one cell. */
export interface Raw extends Figure {
  readonly store: StoreName
  readonly system: string
  readonly setting: Setting
  /** How many jobs the cell ran. */
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

/** In the order of first appearance. */
export function summarize(figures: readonly Raw[]): Summary[] {
  const groups = Map.groupBy(figures, (one) => [one.case, one.store, one.system, one.setting].join(' '))
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const { case: name, store, system, setting, unit, jobs } = first
    const values = group.map(({ value }) => round(value))
    const [min, max] = [Math.min(...values), Math.max(...values)]
    return [{ case: name, store, system, setting, unit, median: median(values), min, max, jobs, values }]
  })
}

/** The middle value, or the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) / 2
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return low === undefined || high === undefined ? Number.NaN : round((low + high) / 2)
}

/** More digits are noise and make the file hard to read. */
const round = (value: number): number => Number(value.toPrecision(6))
