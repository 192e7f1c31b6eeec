/**
 * How long the jobs of a queue take and how large they are, as measured here. From that follows how many may be claimed before a worker is free for them, and
 * nothing is claimed ahead of what was not measured.
 */

export interface Paces {
  /** A job of this queue ran for so long. */
  readonly ran: (queue: string, ms: number) => void
  /** A job of this queue was claimed, with so long a payload. */
  readonly claimed: (queue: string, payloadChars: number) => void
  /** What was measured turned out to be wrong. */
  readonly forget: (queue: string) => void
  /** How many jobs of a queue so many workers begin with in a moment. */
  readonly soon: (queue: string, workers: number) => number
}

/** What is claimed ahead should begin within this time. */
const SOON_MS = 100
/** And should not take more memory than this. */
const MOST_CHARS = 8 * 1024 * 1024
/** Shorter ones are not told apart. */
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
      // Up at once and down slowly: too few claimed ahead cost a statement, too many make jobs wait that others could run.
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
