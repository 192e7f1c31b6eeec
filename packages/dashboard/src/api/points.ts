/** Figures over time put on one axis. Buckets in which nothing happened are left out by the API: they are 0 for a rate, and unknown for a gauge. */
import type { Series } from './types/history.ts'

/** A chart is not wider. */
const MOST_POINTS = 720

/** When buckets begin, from the first to the one that is open; at most so many, of which the newest. */
export function timesOf(
  { from, to, resolutionMs }: Pick<Series, 'from' | 'to' | 'resolutionMs'>,
  now: number,
): number[] {
  const first = from - (from % resolutionMs)
  const many = Math.max(1, Math.ceil(((to ?? now) - first) / resolutionMs))
  return Array.from({ length: many }, (_, at) => first + at * resolutionMs).slice(-MOST_POINTS)
}

/** A value for each time; where there is no point, what stands for nothing. */
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

/** Means of neighbours, for a line of a few pixels. */
export function thinned(values: readonly number[], most = 48): number[] {
  if (values.length <= most) return [...values]
  const step = values.length / most
  return Array.from({ length: most }, (_, at) => {
    const part = values.slice(Math.floor(at * step), Math.floor((at + 1) * step))
    return part.reduce((sum, one) => sum + one, 0) / Math.max(1, part.length)
  })
}
