/** Where the marks of a chart are. */
import type { Version } from '../../api/types.ts'

export interface Mark {
  readonly version: string
  readonly at: number
  /** From the left edge of the plot to its right edge: 0 to 1. */
  readonly share: number
}

/**
 * The versions that appear within these times, latest first. The last time starts a bin, whose width counts.
 */
export function marksIn(versions: readonly Version[], times: readonly number[]): readonly Mark[] {
  const [first, second] = times
  const last = times.at(-1)
  if (first === undefined || last === undefined || last === first) return []
  const widthMs = (second ?? first) - first
  return versions
    .filter(({ firstAt }) => firstAt >= first && firstAt < last + widthMs)
    .map(({ version, firstAt }) => ({
      version,
      at: firstAt,
      share: Math.min(1, (firstAt - first) / (last - first)),
    }))
}
