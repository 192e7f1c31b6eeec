/**
 * After a confirmed cancellation, a job is neither leased nor has effects, until it is retried; and no job is
 * cancelled without a request. A holder that lost its lease is out of reach: its token marks its effects as
 * stale.
 */
import type { Entry } from '../entry.ts'
import type { Violation } from '../violation.ts'

export function cancelledStaysSo(history: readonly Entry[]): Violation[] {
  const cancelled = new Set<string>()
  const asked = new Set<string>()
  const retriedAt = new Map<string, number>()
  const current = new Map<string, number>()
  const stale = new Set<string>()
  const violations: Violation[] = []
  history.forEach((one, entry) => {
    const broken = (rule: Violation['rule'], message: string): void =>
      void violations.push({ rule, message, entry })
    if (one.what === 'cancelled') {
      // The job may have been retried before this caller got the confirmation.
      if ((retriedAt.get(one.job) ?? Number.NEGATIVE_INFINITY) < one.askedAt) cancelled.add(one.job)
    } else if (one.what === 'cancel asked') {
      asked.add(one.job)
    } else if (one.what === 'retried') {
      cancelled.delete(one.job)
      retriedAt.set(one.job, one.at)
    } else if (one.what === 'claimed') {
      if (cancelled.has(one.job))
        broken('run after cancel', `${one.job} was leased under ${one.token} after its cancel was confirmed`)
      current.set(one.job, one.token)
    } else if (one.what === 'taken back') {
      stale.add(`${one.job} ${String(current.get(one.job))}`)
    } else if (one.what === 'effect' && cancelled.has(one.job) && !stale.has(`${one.job} ${one.token}`)) {
      broken(
        'effect after cancel',
        `${one.job} changed something under ${one.token} after its cancel was confirmed`,
      )
    } else if (one.what === 'look' && one.isLast) {
      for (const [job, state] of one.jobs)
        if (state === 'cancelled' && !asked.has(job))
          broken('cancelled unasked', `${job} is cancelled without a request`)
    }
  })
  return violations
}
