/** A deadline for a promise. */
import type { Platform } from './platform.ts'

/** Rejects after the deadline. The work continues, and its outcome is ignored. */
export function within<T>(platform: Platform, ms: number, what: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = platform.timer(ms, () => reject(new Error(`${what} took longer than ${ms} ms`)))
    work.then(resolve, reject).finally(() => timer.cancel())
  })
}
