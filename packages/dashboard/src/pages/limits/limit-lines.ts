/** What was left of a limit, on the grid of a chart. */
import type { LimitMetrics } from '../../api/types/history.ts'
import type { Line } from '../../kit/chart.tsx'
import type { Bins } from '../../metrics/bins.ts'
import { levelsIn } from '../../metrics/levels.ts'

type Point = LimitMetrics & { readonly at: number }

interface Told {
  readonly bins: Bins
  readonly resolutionMs: number
  readonly points: readonly Point[]
}

function levelOf({ bins, resolutionMs, points }: Told, key: 'available' | 'held'): (number | null)[] {
  const level = (point: Point): number | null => point[key]?.mean ?? null
  const first = points.find((point) => level(point) !== null)?.at ?? Number.POSITIVE_INFINITY
  const values = levelsIn({ bins, resolutionMs, points, level })
  // Of a limit nothing is known before somebody told; only of a queue that means that it is empty.
  return values.map((value, at) => ((bins.times[at] ?? 0) + bins.widthMs <= first ? null : value))
}

/** Permits that are out are told apart; a rate has none. */
export function limitLines(told: Told, isConcurrency: boolean): Line[] {
  const available = { name: 'available', colour: 'series-1', values: levelOf(told, 'available') }
  if (!isConcurrency) return [available]
  return [available, { name: 'held', colour: 'series-2', values: levelOf(told, 'held') }]
}
