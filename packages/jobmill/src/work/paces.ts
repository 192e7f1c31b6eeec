/**
 * Run-time and size estimates for the jobs of a queue, as measured in this process. They decide how many jobs
 * to prefetch; without a measurement there is no prefetch.
 */

export interface Paces {
  /** A job of this queue ran for this long. */
  readonly ran: (queue: string, ms: number) => void
  /** A job of this queue was claimed, with a payload of this length. */
  readonly claimed: (queue: string, payloadChars: number) => void
  /** Drops an estimate that was wrong. */
  readonly forget: (queue: string) => void
  /** How many jobs of a queue this many workers will start soon. */
  readonly soon: (queue: string, workers: number) => number
}

/** Prefetched jobs should start within this time. */
const SOON_MS = 100
/** Prefetched payloads should not exceed this size. */
const MOST_CHARS = 8 * 1024 * 1024
/** Shorter run times are treated as equal. */
const SHORTEST_MS = 0.05

interface Pace {
  ms: number
  chars: number
}

export function paces(): Paces {
  const known = new Map<string, Pace>()

  const paceOf = (queue: string): Pace => {
    let pace = known.get(queue)
    if (pace === undefined) known.set(queue, (pace = { ms: Number.POSITIVE_INFINITY, chars: 0 }))
    return pace
  }

  return {
    ran(queue, ms) {
      const pace = paceOf(queue)
      if (pace.ms === Number.POSITIVE_INFINITY) pace.ms = ms
      // The estimate rises fast and falls slowly. Too little prefetch costs a statement; too much delays jobs
      // that other instances could run.
      else pace.ms += (ms - pace.ms) * (ms > pace.ms ? 0.5 : 0.1)
    },
    claimed(queue, payloadChars) {
      const pace = paceOf(queue)
      pace.chars = payloadChars > pace.chars ? payloadChars : pace.chars * 0.95 + payloadChars * 0.05
    },
    forget: (queue) => void known.delete(queue),
    soon(queue, workers) {
      const pace = known.get(queue)
      if (pace === undefined) return 0
      const inTime = (workers * SOON_MS) / Math.max(SHORTEST_MS, pace.ms)
      return Math.floor(Math.min(inTime, MOST_CHARS / Math.max(1, pace.chars)))
    },
  }
}
