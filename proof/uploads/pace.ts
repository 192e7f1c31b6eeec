/** Measures request times. */
export interface Pace {
  readonly perSecond: number
  readonly megabytesPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface Times {
  readonly of: <T>(act: () => Promise<T>) => Promise<T>
  /** From the first request to the end of the last one; idle waiting does not count. */
  readonly pace: (bytes?: number) => Pace
}

export function newTimes(): Times {
  const times: number[] = []
  let [firstAt, lastAt] = [Number.POSITIVE_INFINITY, 0]
  return {
    async of(act) {
      const from = performance.now()
      firstAt = Math.min(firstAt, from)
      const result = await act()
      lastAt = performance.now()
      times.push(lastAt - from)
      return result
    },
    pace(bytes = 0) {
      const sorted = times.toSorted((a, b) => a - b)
      const quantile = (q: number): number => round(sorted[Math.floor(q * (sorted.length - 1))] ?? 0)
      return {
        perSecond: round((times.length / (lastAt - firstAt)) * 1_000),
        megabytesPerSecond: round(bytes / 1e3 / (lastAt - firstAt)),
        p50Ms: quantile(0.5),
        p99Ms: quantile(0.99),
      }
    },
  }
}

export function round(n: number): number {
  return n >= 100 ? Math.round(n) : Math.round(n * 10) / 10
}
