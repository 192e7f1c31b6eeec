/**
 * The time limits of a stop: the grace period of running jobs, and one limit for all of the last writes
 * together. A second stop can only shorten them.
 */
import type { Platform, Timer } from '../platform/platform.ts'
import { within } from '../platform/within.ts'

/** The time limit after the grace period, so that an unreachable database cannot keep a process alive. */
export const LAST_MS = 5_000

export type Grace = ReturnType<typeof grace>

export function grace(platform: Platform, ms: number) {
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const skipped = Promise.withResolvers<never>()
  // Avoids an unhandled rejection in a stop that no longer waits for a write.
  skipped.promise.catch(() => {})
  let isOver = false
  let leftMs = LAST_MS
  let endsAt = platform.monotonic() + ms
  let timer: Timer = platform.timer(ms, resolve)

  function skip(): void {
    leftMs = 0
    skipped.reject(new Error('skipped by a second stop'))
  }

  return {
    /** Resolves when the period expires. Stays pending if `end` comes first. */
    over,
    /** Ends the period at most this long from now. After the period, 0 skips the rest of the last writes. */
    shorten(shorterMs: number) {
      if (isOver && shorterMs === 0) skip()
      if (isOver || platform.monotonic() + shorterMs >= endsAt) return
      endsAt = platform.monotonic() + shorterMs
      timer.cancel()
      timer = platform.timer(shorterMs, resolve)
    },
    /** Ends the period, and cancels its timer. */
    end() {
      isOver = true
      timer.cancel()
    },
    /** Waits for one of the last writes, within the time left for all. Rejects when it takes longer. */
    async lastly<T>(what: string, work: Promise<T>): Promise<T> {
      const startedAt = platform.monotonic()
      try {
        return await within(platform, leftMs, what, Promise.race([work, skipped.promise]))
      } finally {
        leftMs = Math.max(0, leftMs - (platform.monotonic() - startedAt))
      }
    },
  }
}
