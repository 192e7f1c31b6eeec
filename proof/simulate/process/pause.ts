/** Waits by the timers of a simulated process, until the signal fires. */
import type { ProcessPlatform } from './process-platform.ts'

export function pause(platform: ProcessPlatform, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    // The signal may have fired between two waits.
    signal.throwIfAborted()
    const timer = platform.timer(ms, resolve)
    signal.addEventListener('abort', () => {
      timer.cancel()
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- it is an interruption
      reject(signal.reason as Error)
    })
  })
}
