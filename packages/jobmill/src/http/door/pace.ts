/** How often somebody may ask: a bucket for each of them, in this process. */

/** Takes one; how many milliseconds to wait, or 0 when it was there. */
export type Pace = (name: string) => number

export interface PaceOptions {
  readonly perSecond: number
  /** On a clock that never goes back. */
  readonly now: () => number
}

/** More than that are not told apart: then all begin anew. */
const MOST_NAMES = 1_000

export function pace({ perSecond, now }: PaceOptions): Pace {
  const burst = 2 * perSecond
  const buckets = new Map<string, { left: number; at: number }>()
  return (name) => {
    if (buckets.size > MOST_NAMES) buckets.clear()
    const at = now()
    const bucket = buckets.get(name) ?? { left: burst, at }
    const left = Math.min(burst, bucket.left + ((at - bucket.at) * perSecond) / 1_000)
    const isThere = left >= 1
    buckets.set(name, { left: isThere ? left - 1 : left, at })
    return isThere ? 0 : ((1 - left) * 1_000) / perSecond
  }
}
