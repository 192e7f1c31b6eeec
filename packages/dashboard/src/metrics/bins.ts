/**
 * Puts the points of a series on an even grid. The API omits empty buckets and returns more points than a
 * chart can show, so gaps are filled and neighbors merged here.
 */
export interface Bins {
  /** Start time of each bin. */
  readonly times: readonly number[]
  readonly widthMs: number
  /** End of the last bin, or of the data in it. */
  readonly until: number
}

interface At {
  readonly at: number
}

export const MOST_BINS = 360

/** Metrics are written within this time; newer data is incomplete. */
const WRITTEN_WITHIN_MS = 2_500
/** The share of an open bin that must have passed before its rate is meaningful. */
const OPEN_SHARE = 0.25
const OPEN_LEAST_MS = 30_000

/** Aligns bins to full minutes, hours and days. */
const STEPS = [1, 2, 3, 5, 6, 10, 12, 15, 20, 30, 60]

interface Window {
  readonly from: number
  readonly to: number
  readonly resolutionMs: number
  readonly now: number
}

export function binsOf({ from, to, resolutionMs, now }: Window): Bins {
  const count = Math.ceil((to - from) / resolutionMs)
  const least = Math.max(1, Math.ceil(count / MOST_BINS))
  const widthMs = resolutionMs * (STEPS.find((step) => step >= least) ?? least)
  const until = Math.max(from, Math.min(to, now - WRITTEN_WITHIN_MS))
  const times: number[] = []
  for (let at = from - (from % widthMs); at < until; at += widthMs) {
    const isOpen = until < to && until - at < widthMs
    if (!isOpen || until - at >= Math.max(OPEN_LEAST_MS, widthMs * OPEN_SHARE)) times.push(at)
  }
  return { times: times.slice(-MOST_BINS), widthMs, until }
}

/** Per second; 0 where there is no point. */
export function ratesIn<Point extends At>(
  { times, widthMs, until }: Bins,
  points: readonly Point[],
  count: (point: Point) => number,
): number[] {
  const sums = times.map(() => 0)
  for (const point of points) {
    const bin = binAt(times, widthMs, point.at)
    if (bin !== undefined && point.at < until) sums[bin] = (sums[bin] ?? 0) + count(point)
  }
  return sums.map((sum, bin) => {
    const lastsMs = Math.min(widthMs, until - (times[bin] ?? 0))
    return sum / (lastsMs / 1_000)
  })
}

/**
 * The maximum of each bin; null where there is no point. Percentiles cannot be added, and the worst matters
 * most.
 */
export function highestIn<Point extends At>(
  { times, widthMs }: Bins,
  points: readonly Point[],
  value: (point: Point) => number | null,
): (number | null)[] {
  const highest = times.map((): number | null => null)
  for (const point of points) {
    const bin = binAt(times, widthMs, point.at)
    const own = value(point)
    if (bin !== undefined && own !== null) highest[bin] = Math.max(highest[bin] ?? own, own)
  }
  return highest
}

function binAt(times: readonly number[], widthMs: number, at: number): number | undefined {
  const [first] = times
  if (first === undefined || at < first) return undefined
  const bin = Math.floor((at - first) / widthMs)
  return bin < times.length ? bin : undefined
}

/** Merges several lists of equal length; null where all are null. */
export function mergeLists(
  lists: readonly (readonly (number | null)[])[],
  merge: (a: number, b: number) => number,
  length: number,
): (number | null)[] {
  return Array.from({ length }, (_, at) =>
    lists.reduce<number | null>((sum, list) => {
      const own = list[at] ?? null
      if (own === null) return sum
      return sum === null ? own : merge(sum, own)
    }, null),
  )
}
