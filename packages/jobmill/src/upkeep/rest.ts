/** A rest that ends after its time, by a wake-up, or when the signal aborts. */
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'

export interface Rester {
  /** Null: until a wake-up. */
  readonly until: (ms: number | null, signal: AbortSignal) => Promise<void>
  /** Ends the rest; a wake-up before the next rest ends that one at once. */
  readonly wake: () => void
  /** Drops an earlier wake-up. */
  readonly forget: () => void
}

export function rester(platform: Platform): Rester {
  let woken = new AbortController()
  return {
    async until(ms, signal) {
      const either = AbortSignal.any([signal, woken.signal])
      if (ms !== null) await sleep(platform, ms, either)
      else if (!either.aborted)
        await new Promise<void>((resolve) =>
          either.addEventListener('abort', () => resolve(), { once: true }),
        )
    },
    wake: () => woken.abort(),
    forget() {
      if (woken.signal.aborted) woken = new AbortController()
    },
  }
}
