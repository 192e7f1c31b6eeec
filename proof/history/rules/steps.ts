/**
 * P17: only the holder of a lease records a step. From then on, no attempt runs it again, and all attempts
 * get the recorded result.
 */
import type { Entry } from '../entry.ts'
import { retentionTracker } from '../retention-tracker.ts'
import type { Violation } from '../violation.ts'

interface Recorded {
  /**
   * The token of the attempt that recorded it. An older attempt may still run the step, but cannot record it.
   */
  readonly token: number
  readonly value: string | null
}

export function stepsRecordedOnce(history: readonly Entry[]): Violation[] {
  const current = new Map<string, number>()
  const recorded = new Map<string, Map<string, Recorded>>()
  const kept = retentionTracker()
  const violations: Violation[] = []

  history.forEach((one, entry) => {
    const broken = (rule: Violation['rule'], message: string): void =>
      void violations.push({ rule, message, entry })
    // Retention deleted it with its steps, and a late call wrote it again.
    if (one.what === 'written' && kept.isOld(one.job, one.at)) recorded.delete(one.job)
    kept.see(one)
    if (one.what === 'claimed') {
      current.set(one.job, one.token)
    } else if (one.what === 'taken back') {
      current.delete(one.job)
    } else if (one.what === 'finished') {
      if (one.accepted && current.get(one.job) === one.token) current.delete(one.job)
    } else if (one.what === 'step recorded' || one.what === 'step waits') {
      const { job, token, step } = one
      const holds = current.get(job)
      if (holds !== token)
        broken(
          'stale step',
          `"${step}" of ${job} was accepted under ${token} while its lease was ${holds ?? 'none'}`,
        )
      if (one.what === 'step waits') return
      const steps = recorded.get(job) ?? new Map<string, Recorded>()
      recorded.set(job, steps)
      if (!steps.has(step)) steps.set(step, { token, value: one.value })
    } else if (one.what === 'step ran') {
      const before = recorded.get(one.job)?.get(one.step)
      if (before !== undefined && one.token >= before.token)
        broken(
          'step repeated',
          `"${one.step}" of ${one.job} ran under ${one.token}, and was recorded under ${before.token}`,
        )
    } else if (one.what === 'step returned' && one.isSleep !== true) {
      const { job, token, step, value } = one
      const stored = recorded.get(job)?.get(step)
      if (stored === undefined) broken('step result', `"${step}" of ${job} returned before it was recorded`)
      else if (stored.value !== value)
        broken(
          'step result',
          `"${step}" of ${job} returned ${value} under ${token}, and ${stored.value} was recorded`,
        )
    }
  })
  return violations
}
