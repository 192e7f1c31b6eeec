/**
 * Puts gauges on the grid of a chart. A gauge is written when it changes and otherwise every five minutes;
 * empty queues are not written at all. So the last value holds until the next, or until one is overdue.
 */
import { type Bins, mergeLists } from './bins.ts'

interface At {
  readonly at: number
}

/** How far before a range to fetch, so that its first values are known. */
export const LOOKBACK_MS = 6 * 60_000

interface Levels<Point extends At> {
  readonly bins: Bins
  readonly resolutionMs: number
  /** Ascending, including points before the first bin. */
  readonly points: readonly Point[]
  readonly level: (point: Point) => number | null
}

/** The average of each bin; null where it is unknown. */
export function levelsIn<Point extends At>({
  bins: { times, widthMs, until },
  resolutionMs,
  points,
  level,
}: Levels<Point>): (number | null)[] {
  const samples = points.flatMap((point) => {
    const value = level(point)
    return value === null ? [] : [{ at: point.at, value }]
  })
  const holdsMs = Math.max(LOOKBACK_MS, 2 * resolutionMs)
  let next = 0
  /** A queue without points is empty. */
  let last = { at: 0, value: 0 }
  return times.map((time) => {
    let sum = 0
    let known = 0
    const end = Math.min(time + widthMs, until)
    for (let at = time; at < end; at += resolutionMs) {
      for (let one = samples[next]; one !== undefined && one.at <= at; one = samples[next]) {
        last = one
        next += 1
      }
      if (last.value !== 0 && at - last.at > holdsMs) continue
      sum += last.value
      known += 1
    }
    return known === 0 ? null : sum / known
  })
}

/** The sum over all queues; unknown where one of them is unknown. */
export function totalOf(lists: readonly (readonly (number | null)[])[], length: number): (number | null)[] {
  const sums = mergeLists(lists, (a, b) => a + b, length)
  return sums.map((sum, at) => (lists.every((list) => (list[at] ?? null) !== null) ? sum : null))
}
