/**
 * Where looks at due jobs begin. In front of them lie the rows of those that became ready before, dead until the database may remove them. New ones are due later
 * than now, so that after a look that took long the next ones begin where it ended; what became visible behind that is found by the next full look.
 */

export interface DueFloor {
  /** The due time to begin at, or null for a full look. */
  from(now: number): number | null
  /** What a look found: everything that is due before `upTo` is dead or taken. */
  seen(look: {
    readonly from: number | null
    readonly upTo: number
    readonly ms: number
    readonly now: number
  }): void
  /** The database was replaced: the next look is a full one. */
  clear(): void
}

/** Before all due times, for a full look. */
export const FIRST_DUE = Number.MIN_SAFE_INTEGER

/** A full look that takes longer may take one of `SHARE` parts of the time. */
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
    seen({ from, upTo, ms, now }) {
      floor = from === null ? upTo : Math.max(floor, upTo)
      if (from === null && ms > LONG_MS) notBefore = now + SHARE * ms
    },
  }
}
