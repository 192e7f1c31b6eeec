/**
 * A job has at most one lease at a time, with rising tokens, and only its holder can end it: no second lease
 * before the first is over, no outcome accepted from another holder, no handler called without a lease or
 * twice under one, no job done without a run.
 */
import type { Entry } from '../entry.ts'
import type { Violation } from '../violation.ts'

export function leases(history: readonly Entry[]): Violation[] {
  const current = new Map<string, number>()
  /** The highest token so far. */
  const highest = new Map<string, number>()
  const usedTokens = new Set<string>()
  const started = new Set<string>()
  const violations: Violation[] = []

  history.forEach((one, entry) => {
    const broken = (rule: Violation['rule'], message: string): void =>
      void violations.push({ rule, message, entry })
    if (one.what === 'claimed') {
      const { job, token } = one
      const before = current.get(job)
      if (before !== undefined)
        broken('two leases', `${job} was leased under ${token} while ${before} was its lease`)
      const last = highest.get(job)
      if (last !== undefined && token <= last)
        broken('old token', `${job} was leased under ${token} after ${last}`)
      highest.set(job, Math.max(token, last ?? token))
      current.set(job, token)
      usedTokens.add(`${job} ${token}`)
    } else if (one.what === 'finished' && one.accepted && one.again !== true) {
      const { job, token } = one
      const holds = current.get(job)
      if (holds !== token)
        broken(
          'stale finish',
          `an end of ${job} under ${token} was accepted while its lease was ${holds ?? 'none'}`,
        )
      else current.delete(job)
      if (one.state === 'done' && !started.has(`${job} ${token}`))
        broken('done unrun', `${job} is done under ${token}, and no handler was called`)
    } else if (one.what === 'taken back') {
      current.delete(one.job)
    } else if (one.what === 'started') {
      const attempt = `${one.job} ${one.token}`
      if (!usedTokens.has(attempt))
        broken('unleased start', `${one.job} was started under ${one.token}, which was never its lease`)
      if (started.has(attempt)) broken('started twice', `${one.job} was started twice under ${one.token}`)
      started.add(attempt)
    }
  })
  return violations
}
