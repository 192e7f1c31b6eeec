/** A rest that ends after its time, when somebody wakes it, or when the signal fires. */
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'

export interface Rester {
  /** Null: for as long as nobody wakes it. */
  readonly until: (ms: number | null, signal: AbortSignal) => Promise<void>
  /** Ends the rest; woken while nobody rests, the next one ends at once. */
  readonly wake: () => void
  /** Being woken before counts no more. */
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
