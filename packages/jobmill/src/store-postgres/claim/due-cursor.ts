/**
 * The scan cursor for due jobs. Dead rows of jobs that became ready earlier precede the due ones until vacuum
 * removes them. New jobs are due later, so the scans after a slow one start where it ended. The next full
 * scan finds jobs that became visible before that point.
 */

/** Precedes all due times, for a full scan. */
export const FIRST_DUE = Number.MIN_SAFE_INTEGER

/** Full scans that take longer than LONG_MS may use at most 1/SHARE of the time. */
const LONG_MS = 50
const SHARE = 20

interface DueScan {
  readonly from: number | null
  readonly upTo: number
  readonly ms: number
  readonly now: number
}

export type DueCursor = ReturnType<typeof dueCursor>

/** `limitsTime`: whether full scans may use only a share of the time. */
export function dueCursor({ limitsTime = true } = {}) {
  let floor = 0
  let notBefore = Number.NEGATIVE_INFINITY
  return {
    /** The due time to start at, or null for a full scan. */
    from: (now: number): number | null => (now < notBefore ? floor : null),
    /** Records a scan: everything due before `upTo` is dead or taken. */
    record({ from, upTo, ms, now }: DueScan): void {
      floor = from === null ? upTo : Math.max(floor, upTo)
      if (limitsTime && from === null && ms > LONG_MS) notBefore = now + SHARE * ms
    },
    /** The database was replaced, so the next scan must be a full one. */
    clear(): void {
      notBefore = Number.NEGATIVE_INFINITY
    },
  }
}
