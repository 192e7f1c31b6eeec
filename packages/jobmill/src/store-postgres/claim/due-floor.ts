/**
 * The scan cursor for due jobs. Dead rows of jobs that became ready earlier precede the due ones until vacuum
 * removes them. New jobs are due later, so the scans after a slow one start where it ended. The next full
 * scan finds jobs that became visible before that point.
 */

export interface DueFloor {
  /** The due time to start at, or null for a full scan. */
  from(now: number): number | null
  /** Records a scan: everything due before `upTo` is dead or taken. */
  record(look: {
    readonly from: number | null
    readonly upTo: number
    readonly ms: number
    readonly now: number
  }): void
  /** The database was replaced, so the next scan must be a full one. */
  clear(): void
}

/** Precedes all due times, for a full scan. */
export const FIRST_DUE = Number.MIN_SAFE_INTEGER

/** Full scans that take longer than LONG_MS may use at most 1/SHARE of the time. */
const LONG_MS = 50
const SHARE = 20

export function dueFloor(): DueFloor {
  let floor = 0
  let notBefore = Number.NEGATIVE_INFINITY
  return {
    from: (now) => (now < notBefore ? floor : null),
    clear() {
      notBefore = Number.NEGATIVE_INFINITY
    },
    record({ from, upTo, ms, now }) {
      floor = from === null ? upTo : Math.max(floor, upTo)
      if (from === null && ms > LONG_MS) notBefore = now + SHARE * ms
    },
  }
}
