/** Retries on timers while another connection has the file locked. SQLite would block the event loop. */
import type { Platform } from '../../platform/platform.ts'
import { sleep } from '../../platform/sleep.ts'
import { isBusy } from './errors.ts'

export interface Patience {
  readonly platform: Platform
  readonly busyDeadlineMs: number
}

const RETRY_MS = 10

/** Throws the last error at the deadline, and at once an error that `mayPass` rejects. */
export async function retryWhileBusy<T>(
  { platform, busyDeadlineMs }: Patience,
  work: () => T,
  mayPass: (error: unknown) => boolean = isBusy,
): Promise<T> {
  const began = platform.monotonic()
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (platform.monotonic() - began >= busyDeadlineMs || !mayPass(error)) throw error
    }
    await sleep(platform, 1 + platform.random() * RETRY_MS)
  }
}
