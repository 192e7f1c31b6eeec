/** The available amount of a limit, on the grid of a chart. */
import type { LimitMetrics } from '../../api/types.ts'
import type { Line } from '../../kit/charts/line.ts'
import type { Bins } from '../../metrics/bins.ts'
import { levelsIn } from '../../metrics/levels.ts'

type Point = LimitMetrics & { readonly at: number }

interface Source {
  readonly bins: Bins
  readonly resolutionMs: number
  readonly points: readonly Point[]
}

function levelOf({ bins, resolutionMs, points }: Source, key: 'available' | 'held'): (number | null)[] {
  const level = (point: Point): number | null => point[key]?.mean ?? null
  const first = points.find((point) => level(point) !== null)?.at ?? Number.POSITIVE_INFINITY
  const values = levelsIn({ bins, resolutionMs, points, level })
  // A limit is unknown before its first value; only for a queue does that mean that it is empty.
  return values.map((value, at) => ((bins.times[at] ?? 0) + bins.widthMs <= first ? null : value))
}

/** Permits in use are a separate line; a rate has none. */
export function limitLines(source: Source, isConcurrency: boolean): Line[] {
  const available = { name: 'available', colour: 'series-1', values: levelOf(source, 'available') }
  if (!isConcurrency) return [available]
  return [available, { name: 'in use', colour: 'series-2', values: levelOf(source, 'held') }]
}
