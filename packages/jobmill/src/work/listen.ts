/** Waits at the doorbell for as long as the process works. */
import { pauses } from '../platform/pauses.ts'
import type { Platform } from '../platform/platform.ts'
import type { Doorbell } from '../store/store.ts'

const ROUND_MS = 60_000

export interface ListenOptions {
  readonly store: Pick<Doorbell, 'wait'>
  readonly queues: () => readonly string[]
  readonly rung: () => void
  readonly platform: Platform
  readonly signal: AbortSignal
  readonly failing: (error: unknown) => void
  readonly working: () => void
}

export async function listen(options: ListenOptions): Promise<void> {
  const { signal } = options
  const pause = pauses(options.platform, { firstMs: 100, longestMs: 5_000 })
  while (!signal.aborted) {
    try {
      const rung = await options.store.wait({ queues: options.queues(), timeoutMs: ROUND_MS, signal })
      pause.reset()
      options.working()
      if (rung) options.rung()
    } catch (error) {
      options.failing(error)
      await pause.wait(signal)
    }
  }
}
