/** Each tick of a schedule is served exactly once: none twice, and none is missing at the end. */
import type { Entry } from '../entry.ts'
import type { Violation } from '../violation.ts'

export function ticks(history: readonly Entry[]): Violation[] {
  const served = new Map<string, Set<number>>()
  const violations: Violation[] = []
  history.forEach((one, entry) => {
    if (one.what === 'ticked') {
      const instants = served.get(one.schedule) ?? new Set()
      served.set(one.schedule, instants)
      if (instants.has(one.instant))
        violations.push({
          rule: 'tick twice',
          message: `${one.schedule} was served twice for ${one.instant}`,
          entry,
        })
      instants.add(one.instant)
    } else if (one.what === 'planned') {
      for (const instant of one.instants)
        if (served.get(one.schedule)?.has(instant) !== true)
          violations.push({
            rule: 'tick missing',
            message: `${one.schedule} was not served for ${instant}`,
            entry,
          })
    }
  })
  return violations
}
