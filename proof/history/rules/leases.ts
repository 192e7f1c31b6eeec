/**
 * At any moment a job has one lease at most, and only its holder's word counts: no second lease before the first is over, no end accepted from anybody else, and
 * no handler called without one.
 */
import type { Entry } from '../entry.ts'
import type { Violation } from '../violation.ts'

export function leases(history: readonly Entry[]): Violation[] {
  const current = new Map<string, number>()
  const given = new Map<string, Set<number>>()
  const found: Violation[] = []

  history.forEach((one, entry) => {
    const broken = (rule: Violation['rule'], told: string): void => void found.push({ rule, told, entry })
    if (one.what === 'claimed') {
      const before = current.get(one.job)
      if (before !== undefined)
        broken('two leases', `${one.job} was leased under ${one.token} while ${before} was its lease`)
      current.set(one.job, one.token)
      const tokens = given.get(one.job) ?? new Set()
      given.set(one.job, tokens.add(one.token))
    } else if (one.what === 'finished' && one.accepted && one.again !== true) {
      const token = current.get(one.job)
      if (token !== one.token)
        broken(
          'stale finish',
          `an end of ${one.job} under ${one.token} was accepted while its lease was ${token ?? 'none'}`,
        )
      else current.delete(one.job)
    } else if (one.what === 'taken back') {
      current.delete(one.job)
    } else if (one.what === 'started' && given.get(one.job)?.has(one.token) !== true) {
      broken('unleased start', `${one.job} was started under ${one.token}, which was never its lease`)
    }
  })
  return found
}
