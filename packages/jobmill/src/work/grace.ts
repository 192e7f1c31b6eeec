/** The grace period of running jobs at a stop. A second stop can only shorten it. */
import type { Platform, Timer } from '../platform/platform.ts'

export interface Grace {
  /** Resolves when the period is over. */
  readonly over: Promise<void>
  /** Ends it at most this long from now. */
  shorten(ms: number): void
  /** Cancels the timer. */
  cancel(): void
}

export function grace(platform: Platform, ms: number): Grace {
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  let isOver = false
  let endsAt = platform.monotonic() + ms
  let timer: Timer = platform.timer(ms, end)
  return {
    over,
    shorten(shorterMs) {
      if (isOver || platform.monotonic() + shorterMs >= endsAt) return
      endsAt = platform.monotonic() + shorterMs
      timer.cancel()
      timer = platform.timer(shorterMs, end)
    },
    cancel() {
      isOver = true
      timer.cancel()
    },
  }
}
