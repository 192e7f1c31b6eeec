/** How often somebody may ask: a bucket for each of them, in this process. */

/** Takes one; how many milliseconds to wait, or 0 when it was there. With `take` 0 it only looks whether one is. */
export type Pace = (name: string, take?: 0 | 1) => number

export interface PaceOptions {
  readonly perSecond: number
  /** On a clock that never goes back. */
  readonly now: () => number
}

/** Beyond that the one that asked least recently is forgotten, so that memory is bounded whatever callers send. */
const MOST_NAMES = 1_000

export function pace({ perSecond, now }: PaceOptions): Pace {
  const burst = 2 * perSecond
  const buckets = new Map<string, { left: number; at: number }>()
  return (name, take = 1) => {
    const at = now()
    const bucket = buckets.get(name) ?? { left: burst, at }
    // To the end: the first is the one that asked least recently.
    buckets.delete(name)
    const [oldest] = buckets.keys()
    if (buckets.size >= MOST_NAMES && oldest !== undefined) buckets.delete(oldest)
    const left = Math.min(burst, bucket.left + ((at - bucket.at) * perSecond) / 1_000)
    const isThere = left >= 1
    buckets.set(name, { left: isThere ? left - take : left, at })
    return isThere ? 0 : ((1 - left) * 1_000) / perSecond
  }
}
