/**
 * Puts metrics on one time axis. The API omits buckets in which nothing happened: they count as 0 for a rate
 * and as unknown for a gauge.
 */
import type { Series } from '../types.ts'

/** More points than a chart can show. */
const MOST_POINTS = 720

/** Start times of the buckets up to the open one; the newest ones when there are too many. */
export function timesOf(
  { from, to, resolutionMs }: Pick<Series, 'from' | 'to' | 'resolutionMs'>,
  now: number,
): number[] {
  const first = from - (from % resolutionMs)
  const many = Math.max(1, Math.ceil(((to ?? now) - first) / resolutionMs))
  return Array.from({ length: many }, (_, at) => first + at * resolutionMs).slice(-MOST_POINTS)
}

/** One value per time, and `nothing` where the series has no point. */
export function along<Point extends { readonly at: number }, Nothing extends 0 | null>(
  times: readonly number[],
  points: readonly Point[],
  value: (point: Point) => number | null | undefined,
  nothing: Nothing,
): (number | Nothing)[] {
  const byTime = new Map(points.map((point) => [point.at, point]))
  return times.map((time) => {
    const point = byTime.get(time)
    return (point === undefined ? null : value(point)) ?? nothing
  })
}

/** Averages neighboring points, for a line that is a few pixels wide. */
export function averageNeighbors(values: readonly number[], most = 48): number[] {
  if (values.length <= most) return [...values]
  const step = values.length / most
  return Array.from({ length: most }, (_, at) => {
    const part = values.slice(Math.floor(at * step), Math.floor((at + 1) * step))
    return part.reduce((sum, one) => sum + one, 0) / Math.max(1, part.length)
  })
}
