/**
 * Detects growth in samples by the median of all pairwise slopes (Theil–Sen), which is robust against
 * outliers. A metric grows if the slope exceeds the tolerance and chance does not explain it. Only the second
 * half counts, because caches fill and retention starts in the first.
 */

export interface Point {
  readonly atMs: number
  readonly value: number
}

/** The tolerated growth over the second half: a share of the level, or an absolute amount. */
export interface Tolerance {
  readonly share: number
  readonly least: number
}

export interface Flatness {
  /** At the start of the second half. */
  readonly level: number
  /** From there to the end. */
  readonly grown: number
  /** The lower bound of the growth, with 95% confidence. */
  readonly grownAtLeast: number
  /** Relative to the level. */
  readonly share: number
  readonly isFlat: boolean
}

/** The minimum number of samples in the second half. */
const FEWEST = 10
/** Adjacent samples are correlated, so each block counts as its median. */
const BLOCKS = 30
/** The quantile for 5%, one-sided. */
const Z = 1.645

export function flatness(points: readonly Point[], { share, least }: Tolerance): Flatness {
  const half = secondHalf(points)
  if (half.length < FEWEST)
    throw new Error(`too few samples: ${half.length} in the second half, and ${FEWEST} are needed`)
  const blocks = inBlocks(half)
  const sorted = slopes(blocks).toSorted((a, b) => a - b)
  const slope = median(sorted)
  const beganAt = half[0]?.atMs ?? 0
  const spanMs = (half.at(-1)?.atMs ?? 0) - beganAt
  const level = median(blocks.map(({ atMs, value }) => value - slope * (atMs - beganAt)))
  const grown = slope * spanMs
  const grownAtLeast = lowerBound(sorted, blocks.length) * spanMs
  return {
    level,
    grown,
    grownAtLeast,
    share: level === 0 ? 0 : grown / level,
    isFlat: grown <= Math.max(share * level, least) || grownAtLeast <= 0,
  }
}

/** By time, not by number. */
function secondHalf(points: readonly Point[]): readonly Point[] {
  const [first, last] = [points[0]?.atMs ?? 0, points.at(-1)?.atMs ?? 0]
  return points.filter(({ atMs }) => atMs >= (first + last) / 2)
}

function inBlocks(points: readonly Point[]): Point[] {
  const size = Math.ceil(points.length / BLOCKS)
  return Array.from({ length: Math.ceil(points.length / size) }, (_, at) => {
    const block = points.slice(at * size, (at + 1) * size)
    return { atMs: median(block.map(({ atMs }) => atMs)), value: median(block.map(({ value }) => value)) }
  })
}

function slopes(points: readonly Point[]): number[] {
  return points.flatMap((a, at) =>
    points.slice(at + 1).flatMap((b) => (b.atMs > a.atMs ? [(b.value - a.value) / (b.atMs - a.atMs)] : [])),
  )
}

/** Sen's bound: the number of slopes below it that Kendall's statistic allows by chance. */
function lowerBound(sorted: readonly number[], points: number): number {
  const spread = Z * Math.sqrt((points * (points - 1) * (2 * points + 5)) / 18)
  return sorted[Math.max(0, Math.floor((sorted.length - spread) / 2))] ?? 0
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2
}
