/**
 * Chooses the bins of a range: narrow enough to see an outage of ten minutes, and not so many that the store
 * must read and merge too many of its buckets.
 */
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The bins for a range of up to this length. */
const WIDTHS = [
  { longestMs: 20 * MINUTE, widthMs: 10 * SECOND },
  { longestMs: HOUR, widthMs: 30 * SECOND },
  { longestMs: 3 * HOUR, widthMs: MINUTE },
  { longestMs: 8 * HOUR, widthMs: 2 * MINUTE },
  { longestMs: DAY, widthMs: 5 * MINUTE },
  { longestMs: 2 * DAY, widthMs: 10 * MINUTE },
  { longestMs: 7 * DAY, widthMs: 30 * MINUTE },
  { longestMs: 10 * DAY, widthMs: HOUR },
  { longestMs: 45 * DAY, widthMs: 3 * HOUR },
] as const
const WIDEST = 12 * HOUR

/** The buckets of the store, and how long it keeps them by default. */
const STORED = [
  { bucketMs: HOUR, keptMs: Number.POSITIVE_INFINITY },
  { bucketMs: 5 * MINUTE, keptMs: 7 * DAY + HOUR },
  { bucketMs: MINUTE, keptMs: 7 * DAY + HOUR },
  { bucketMs: 10 * SECOND, keptMs: 6 * HOUR },
] as const

/** The most buckets of all queues together: 24 queues over 7 days, in buckets of 5 minutes. */
const MOST_BUCKETS = 50_000

interface Asked {
  readonly from: number
  readonly to: number
  readonly now: number
  readonly queues: number
}

/** The width of the bins in milliseconds. */
export function widthFor({ from, to, now, queues }: Asked): number {
  const lengthMs = to - from
  const fits = (widthMs: number): boolean => {
    const stored = STORED.find(({ bucketMs }) => widthMs % bucketMs === 0)
    return (
      stored !== undefined &&
      now - from <= stored.keptMs &&
      (stored.bucketMs === HOUR || (lengthMs / stored.bucketMs) * queues <= MOST_BUCKETS)
    )
  }
  const found = WIDTHS.find(({ longestMs, widthMs }) => lengthMs <= longestMs && fits(widthMs))
  // Ranges that fit no narrow bins, because they are old or have many queues, are shown in hours.
  return found?.widthMs ?? WIDEST
}

/** A bin need not be read more often than it changes visibly. */
export function paceFor(widthMs: number): number {
  return Math.max(5 * SECOND, Math.min(MINUTE, widthMs / 2))
}
