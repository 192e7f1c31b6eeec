/**
 * Permits for lookups of unknown tokens. A lookup takes its permit before it starts, so that parallel
 * requests cannot exceed the limit, and gives it back if the token was not wrong.
 */
import type { Pace } from 'jobmill-server'

interface Lookups {
  running: number
  /** Requests that found no permit. Each waits for one lookup: true passes its permit on. */
  readonly waiting: ((isGiven: boolean) => void)[]
}

export interface Permits {
  /** Resolves with 0 when the lookup may start, or with the milliseconds until the next permit. */
  readonly acquire: (address: string) => Promise<number>
  /** Ends a lookup. A wrong token uses up its permit. */
  readonly release: (address: string, isUsedUp: boolean) => void
}

export function permits(limit: Pace): Permits {
  const all = new Map<string, Lookups>()

  function start(address: string): number {
    const waitMs = limit(address)
    if (waitMs > 0) return waitMs
    const lookups = all.get(address) ?? { running: 0, waiting: [] }
    lookups.running += 1
    all.set(address, lookups)
    return 0
  }

  return {
    async acquire(address) {
      const waitMs = start(address)
      const lookups = all.get(address)
      if (waitMs === 0 || lookups === undefined) return waitMs
      // Valid tokens are unknown after a restart, and many callers may send theirs at once. So wait for
      // the lookups in progress, which may give their permits back.
      const isGiven = await new Promise<boolean>((resolve) => lookups.waiting.push(resolve))
      return isGiven ? 0 : start(address)
    },

    release(address, isUsedUp) {
      const lookups = all.get(address)
      if (lookups === undefined) return
      const next = lookups.waiting.shift()
      next?.(!isUsedUp)
      if (!isUsedUp && next !== undefined) return
      if (!isUsedUp) limit(address, -1)
      lookups.running -= 1
      if (lookups.running > 0) return
      all.delete(address)
      for (const resolve of lookups.waiting) resolve(false)
    },
  }
}
