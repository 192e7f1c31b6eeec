/** Limits the request rate with a token bucket for each caller, in this process. */

/**
 * Takes one request and returns the milliseconds to wait, or 0 if it is allowed. With `take` -1 it gives one
 * back.
 */
export type Pace = (name: string, take?: -1 | 1) => number

export interface PaceOptions {
  readonly perSecond: number
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}

/** Beyond this number the least recently seen caller is dropped, so that memory is bounded. */
const MOST_NAMES = 1_000

export function pace({ perSecond, now }: PaceOptions): Pace {
  const burst = 2 * perSecond
  const buckets = new Map<string, { left: number; at: number }>()
  return (name, take = 1) => {
    const at = now()
    const bucket = buckets.get(name) ?? { left: burst, at }
    // Reinsert at the end, so that the first entry is the least recently seen.
    buckets.delete(name)
    const [oldest] = buckets.keys()
    if (buckets.size >= MOST_NAMES && oldest !== undefined) buckets.delete(oldest)
    const left = Math.min(burst, bucket.left + ((at - bucket.at) * perSecond) / 1_000)
    const isThere = left >= 1
    buckets.set(name, { left: isThere || take < 0 ? left - take : left, at })
    return isThere ? 0 : ((1 - left) * 1_000) / perSecond
  }
}
