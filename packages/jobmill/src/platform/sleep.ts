/** A sleep that a signal can end early. */
import type { Platform, TimerOptions } from './platform.ts'

/** Resolves after `ms`, or at once when the signal aborts. Never rejects: check the signal afterwards. */
export function sleep(
  platform: Pick<Platform, 'timer'>,
  ms: number,
  signal?: AbortSignal,
  options?: TimerOptions,
): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve()
  return new Promise((resolve) => {
    const wake = (): void => {
      timer.cancel()
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const timer = platform.timer(ms, wake, options)
    signal?.addEventListener('abort', wake, { once: true })
  })
}
