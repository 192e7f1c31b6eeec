/**
 * Caches the leases of this process: their rows and columns. A finish then needs no read; the fence in its
 * statement detects a stale entry.
 */

export interface KnownLease {
  readonly pk: number
  readonly queueId: number
  readonly token: number
  readonly attempt: number
  readonly startedAt: number
  readonly instance: string
  readonly tagged: boolean
}

/** The leases by job. No two leases have the same row and token, so a stale entry matches no row. */
export type LeaseCache = Map<string, KnownLease>

export type Leases = ReturnType<typeof leasesOn>

/** A lease that ends without this process, for example by a reap, stays cached until newer ones evict it. */
const MOST_KNOWN = 10_000

export function leasesOn(cache: LeaseCache) {
  const ids: string[] = []
  const given: KnownLease[] = []
  return {
    /** Caches a lease that this transaction grants. */
    give(id: string, lease: KnownLease): void {
      ids.push(id)
      given.push(lease)
    },
    /** Returns and removes the cached lease. */
    take(id: string, token: number): KnownLease | undefined {
      const lease = cache.get(id)
      if (lease?.token !== token) return undefined
      cache.delete(id)
      return lease
    },
    /** Removes an entry whose job changes in a way that the cache does not cover. */
    drop(id: string): void {
      cache.delete(id)
    },
    /** Adds the new leases to the cache. Call it after the commit: only then do they exist. */
    updateCache(): void {
      given.forEach((lease, at) => cache.set(ids[at] ?? '', lease))
      if (cache.size <= MOST_KNOWN) return
      for (const id of cache.keys()) {
        if (cache.size <= MOST_KNOWN) break
        cache.delete(id)
      }
    },
  }
}

/**
 * Thrown when a row does not match its cached lease. The transaction is then retried, and reads every row.
 */
export class LeaseOutdated extends Error {
  override readonly name = 'LeaseOutdated'
}
