/**
 * Whether something grows, told from samples: by the median of the slopes between all pairs of them (Theil and Sen), which a few samples far off do not move.
 * It grows when that is more than is tolerated, and when chance does not explain it: figures that jump about have some slope in every run.
 * Only the second half counts: until then caches fill, code is compiled, and what is kept for a while comes to the age at which it goes.
 */

export interface Point {
  readonly atMs: number
  readonly value: number
}

/** What is still called flat: growth over the second half of less than this share of the level, or less than so much. */
export interface Tolerance {
  readonly share: number
  readonly least: number
}

export interface Flatness {
  /** At the beginning of the second half. */
  readonly level: number
  /** From there to the end. */
  readonly grown: number
  /** By at least so much, in 19 of 20 runs that look like this one. */
  readonly grownAtLeast: number
  /** Of the level. */
  readonly share: number
  readonly isFlat: boolean
}

/** With fewer in the second half nothing can be said. */
const FEWEST = 10
/** Samples that follow each other are alike, and count as one: as their median. */
const BLOCKS = 30
/** One in twenty, on one side. */
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

/** Sen's: as many of the sorted slopes below it as Kendall's count of rising pairs allows for by chance. */
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
