/**
 * Run-time and size estimates for the jobs of a queue, as measured in this process. They decide how many jobs
 * to prefetch; without a measurement there is no prefetch.
 */

/** The estimates of each queue, by its name. */
export type Estimates = Map<string, Estimate>

interface Estimate {
  ms: number
  chars: number
}

/** Prefetched jobs should start within this time. */
const SOON_MS = 100
/** Prefetched payloads should not exceed this size. */
const MAX_CHARS = 8 * 1024 * 1024
/** Shorter run times are treated as equal. */
const SHORTEST_MS = 0.05

export function addRunTime(estimates: Estimates, queue: string, ms: number): void {
  const estimate = estimateOf(estimates, queue)
  if (estimate.ms === Number.POSITIVE_INFINITY) estimate.ms = ms
  // The estimate rises fast and falls slowly. Too little prefetch costs a statement; too much delays jobs
  // that other instances could run.
  else estimate.ms += (ms - estimate.ms) * (ms > estimate.ms ? 0.5 : 0.1)
}

export function addPayload(estimates: Estimates, queue: string, chars: number): void {
  const estimate = estimateOf(estimates, queue)
  estimate.chars = chars > estimate.chars ? chars : estimate.chars * 0.95 + chars * 0.05
}

/** How many jobs of a queue this many workers will start soon. */
export function countStartingSoon(estimates: Estimates, queue: string, workers: number): number {
  const estimate = estimates.get(queue)
  if (estimate === undefined) return 0
  const inTime = (workers * SOON_MS) / Math.max(SHORTEST_MS, estimate.ms)
  return Math.floor(Math.min(inTime, MAX_CHARS / Math.max(1, estimate.chars)))
}

function estimateOf(estimates: Estimates, queue: string): Estimate {
  let estimate = estimates.get(queue)
  if (estimate === undefined) estimates.set(queue, (estimate = { ms: Number.POSITIVE_INFINITY, chars: 0 }))
  return estimate
}
