/**
 * The leases that this process was given: where their rows are, and what stands in them. A finish of such a job need not look for it;
 * the fence in the statement that ends it tells whether what is known here is still so.
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

/** By job. A row and a token were never together in another lease, so what is out of date here fits no row. */
export type LeaseCache = Map<string, KnownLease>

/** Those that end without this process hearing of it stay until they are the oldest. */
const MOST_KNOWN = 10_000

export interface Leases {
  /** Remembers one that this transaction gives. */
  give(id: string, lease: KnownLease): void
  /** What is known of this lease; asked a second time, nothing. */
  take(id: string, token: number): KnownLease | undefined
  /** Something about the job is changed that its lease does not tell. */
  drop(id: string): void
  /** Call it when the transaction is committed: only then are there such leases. */
  keep(): void
}

export function leasesOn(cache: LeaseCache): Leases {
  const ids: string[] = []
  const given: KnownLease[] = []
  return {
    give(id, lease) {
      ids.push(id)
      given.push(lease)
    },
    take(id, token) {
      const lease = cache.get(id)
      if (lease?.token !== token) return undefined
      cache.delete(id)
      return lease
    },
    drop(id) {
      cache.delete(id)
    },
    keep() {
      given.forEach((lease, at) => cache.set(ids[at] ?? '', lease))
      if (cache.size <= MOST_KNOWN) return
      for (const id of cache.keys()) {
        if (cache.size <= MOST_KNOWN) break
        cache.delete(id)
      }
    },
  }
}

/** Thrown when a row is not as its lease was known. The transaction is run again, and then every row is looked at. */
export class LeaseOutdated extends Error {
  override readonly name = 'LeaseOutdated'
}
