/** A promise that must not be waited for longer than a time. */
import type { Platform } from './platform.ts'

class TooLate extends Error {
  constructor(what: string, ms: number) {
    super(`${what} took longer than ${ms} ms`)
    this.name = 'TooLate'
  }
}

/** Rejects with TooLate when the time is over; what was waited for goes on, and how it ends is nobody's concern then. */
export function within<T>(platform: Platform, ms: number, what: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = platform.timer(ms, () => reject(new TooLate(what, ms)))
    work.then(resolve, reject).finally(() => timer.cancel())
  })
}
