/**
 * How many there were, on the grid of a chart. A level is told when it changes, and otherwise every five minutes; of a queue that is empty nothing is told.
 * So the last one holds until the next, for as long as somebody would have told it.
 */
import { type Bins, merged } from './bins.ts'

interface At {
  readonly at: number
}

/** What is asked for before a range, so that its first levels are known. */
export const TOLD_WITHIN_MS = 6 * 60_000

interface Levels<Point extends At> {
  readonly bins: Bins
  readonly resolutionMs: number
  /** Rising, also from before the first bin. */
  readonly points: readonly Point[]
  readonly level: (point: Point) => number | null
}

/** The mean of each bin; null where it is not known. */
export function levelsIn<Point extends At>({
  bins: { times, widthMs, until },
  resolutionMs,
  points,
  level,
}: Levels<Point>): (number | null)[] {
  const told = points.flatMap((point) => {
    const value = level(point)
    return value === null ? [] : [{ at: point.at, value }]
  })
  const holdsMs = Math.max(TOLD_WITHIN_MS, 2 * resolutionMs)
  let next = 0
  /** A queue of which nothing was told is empty. */
  let last = { at: 0, value: 0 }
  return times.map((time) => {
    let sum = 0
    let known = 0
    const end = Math.min(time + widthMs, until)
    for (let at = time; at < end; at += resolutionMs) {
      for (let one = told[next]; one !== undefined && one.at <= at; one = told[next]) {
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

/** Of all queues together: not known where one of them is not. */
export function totalOf(lists: readonly (readonly (number | null)[])[], length: number): (number | null)[] {
  const sums = merged(lists, (a, b) => a + b, length)
  return sums.map((sum, at) => (lists.every((list) => (list[at] ?? null) !== null) ? sum : null))
}
