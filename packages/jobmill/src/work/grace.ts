/** The time that running jobs get at a stop. It can only be made shorter, by a second stop. */
import type { Platform, Timer } from '../platform/platform.ts'

export interface Grace {
  /** Resolves when it is over. */
  readonly over: Promise<void>
  /** Ends at most this long from now. */
  shorten(ms: number): void
  /** Nobody waits for it any more. */
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
