// Attributes elapsed time to named parts: each call of `reach` ends one part, so that all parts add up.

/** Microseconds by part, in the order of their first appearance. */
export type Parts = Readonly<Record<string, number>>

export interface Stopwatch {
  start(): void
  /** Adds the time since the last call to this part. Does nothing before `start` and after `stop`. */
  reach(part: string): void
  /** Ends the last part. Returns the parts since `start`. */
  stop(part: string): Parts
}

export function stopwatch(): Stopwatch {
  let parts: Record<string, number> | undefined
  let last = 0
  const reach = (part: string): void => {
    if (parts === undefined) return
    const now = performance.now()
    parts[part] = (parts[part] ?? 0) + (now - last) * 1_000
    last = now
  }
  return {
    start() {
      parts = {}
      last = performance.now()
    },
    reach,
    stop(part) {
      reach(part)
      const all = parts ?? {}
      parts = undefined
      return all
    },
  }
}

const sum = (parts: Parts): number => Object.values(parts).reduce((total, one) => total + one, 0)

/**
 * The means of the middle fifth by total: close to the median, and unlike medians of the parts, they add up
 * to the mean of the whole.
 */
export function middleOf(all: readonly Parts[]): Parts {
  const sorted = all.toSorted((a, b) => sum(a) - sum(b))
  const middle = sorted.slice(Math.floor(sorted.length * 0.4), Math.ceil(sorted.length * 0.6))
  const means: Record<string, number> = {}
  for (const parts of middle)
    for (const [part, us] of Object.entries(parts)) means[part] = (means[part] ?? 0) + us / middle.length
  return means
}
