/** Pauses between tries of something that fails: longer each time, never the same twice, ended early by a signal. */
import type { Platform } from './platform.ts'
import { sleep } from './sleep.ts'

export interface Pauses {
  /** Waits for the next pause, or until the signal fires. */
  wait(signal?: AbortSignal): Promise<void>
  /** After a success: begin with the shortest again. */
  reset(): void
}

export function pauses(
  platform: Platform,
  { firstMs, longestMs }: { firstMs: number; longestMs: number },
): Pauses {
  let ms = firstMs
  return {
    async wait(signal) {
      const full = ms
      ms = Math.min(longestMs, ms * 2)
      // Half of it by chance: processes that lost the database together do not come back together.
      await sleep(platform, full / 2 + (full / 2) * platform.random(), signal)
    },
    reset() {
      ms = firstMs
    },
  }
}
