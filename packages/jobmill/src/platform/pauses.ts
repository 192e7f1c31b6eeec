/** Exponential backoff with jitter; a signal ends a wait early. */
import type { Platform } from './platform.ts'
import { sleep } from './sleep.ts'

export interface Pauses {
  /** The length of the next pause in ms. */
  next(): number
  /** Sleeps for the length of the next pause, or until the signal aborts. */
  wait(signal?: AbortSignal): Promise<void>
  /** After a success: start with the shortest pause again. */
  reset(): void
}

export function pauses(
  platform: Platform,
  { firstMs, longestMs }: { firstMs: number; longestMs: number },
): Pauses {
  let ms = firstMs

  function next(): number {
    const full = ms
    ms = Math.min(longestMs, ms * 2)
    // Half of the pause is random, so that processes that lost the database together do not reconnect
    // together.
    return full / 2 + (full / 2) * platform.random()
  }

  return {
    next,
    wait: (signal) => sleep(platform, next(), signal),
    reset() {
      ms = firstMs
    },
  }
}
