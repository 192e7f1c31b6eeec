/** No limit grants more than it allows: a number at a time, or a number in any period. */
import type { Allows, Entry } from '../entry.ts'
import type { Violation } from '../violation.ts'

interface Grant {
  readonly at: number
  readonly amount: number
}

export function limits(history: readonly Entry[]): Violation[] {
  const names = new Set(history.flatMap((one) => (one.what === 'limit set' ? [one.limit] : [])))
  return [...names].flatMap((limit) => ofOne(limit, history))
}

function ofOne(limit: string, history: readonly Entry[]): Violation[] {
  let allows: Allows | undefined
  const held = new Map<string, number>()
  const grants: Grant[] = []
  const violations: Violation[] = []
  history.forEach((one, entry) => {
    if (one.what === 'released') held.delete(one.holder)
    if (!('limit' in one) || one.limit !== limit) return
    if (one.what === 'limit set') {
      allows = one.allows
      // A new rate counts from its start.
      grants.length = 0
    } else if (one.what === 'given back') {
      held.delete(one.holder)
    } else if (allows !== undefined && 'most' in allows) {
      held.set(one.holder, (held.get(one.holder) ?? 0) + one.amount)
      const sum = [...held.values()].reduce((a, b) => a + b, 0)
      if (sum > allows.most)
        violations.push({
          rule: 'limit',
          message: `${sum} of ${limit} are out, and ${allows.most} are allowed`,
          entry,
        })
    } else if (allows !== undefined) {
      grants.push({ at: one.at, amount: one.amount })
      // A grant may be for later, and a subsequent one for now.
      grants.sort((a, b) => a.at - b.at)
      const worst = tooMany(grants, allows)
      if (worst !== null) violations.push({ rule: 'limit', message: `${limit}: ${worst}`, entry })
    }
  })
  return violations
}

/** Checks every period between two grants: a full bucket plus the refill. */
function tooMany(grants: readonly Grant[], allows: Extract<Allows, { perMs: number }>): string | null {
  for (let last = grants.length - 1; last >= 0; last -= 1) {
    const worst = endingWith(grants.slice(0, last + 1), allows)
    if (worst !== null) return worst
  }
  return null
}

function endingWith(grants: readonly Grant[], allows: Extract<Allows, { perMs: number }>): string | null {
  const end = grants.at(-1)?.at ?? 0
  let sum = 0
  for (const { at, amount } of grants.toReversed()) {
    sum += amount
    const allowed = allows.burst + ((end - at) * allows.amount) / allows.perMs
    // Times are whole milliseconds.
    const rounding = allows.amount / allows.perMs
    if (sum > allowed + rounding) return `${sum} within ${end - at} ms, and ${allowed.toFixed(2)} are allowed`
  }
  return null
}
