/** A deadline for a promise. */
import type { Platform } from './platform.ts'

class TooLate extends Error {
  constructor(what: string, ms: number) {
    super(`${what} took longer than ${ms} ms`)
    this.name = 'TooLate'
  }
}

/** Rejects with TooLate after the deadline. The work continues, and its outcome is ignored. */
export function within<T>(platform: Platform, ms: number, what: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = platform.timer(ms, () => reject(new TooLate(what, ms)))
    work.then(resolve, reject).finally(() => timer.cancel())
  })
}
