/** One job at a time holds a dedupe key: until it has ended, and then for the requested time. */
import type { Entry, Written } from '../entry.ts'
import type { Violation } from '../violation.ts'

type Key = NonNullable<Written['key']>

interface Held extends Key {
  readonly job: string
  /** Infinity until its job has ended. */
  until: number
}

const ENDS = new Set(['done', 'dead', 'cancelled'])

export function keysHeld(history: readonly Entry[]): Violation[] {
  const held = new Map<string, Held>()
  const keyOf = new Map<string, Key>()
  const violations: Violation[] = []

  const ended = (job: string, at: number, state: string | null): void => {
    const holder = held.get(keyOf.get(job)?.key ?? '')
    if (holder?.job !== job || !ENDS.has(state ?? '')) return
    const isHeld = state === 'done' || holder.holdAfter === 'ended'
    holder.until = Math.min(holder.until, isHeld ? at + holder.holdMs : at)
  }

  history.forEach((one, entry) => {
    if (one.what === 'written' && one.key !== null && one.key !== undefined && !keyOf.has(one.job)) {
      const { key } = one.key
      const before = held.get(key)
      if (before !== undefined && before.until > one.at)
        violations.push({
          rule: 'key',
          message: `${one.job} was written under ${key}, which ${before.job} holds`,
          entry,
        })
      held.set(key, { ...one.key, job: one.job, until: Number.POSITIVE_INFINITY })
      keyOf.set(one.job, one.key)
    } else if ((one.what === 'finished' && one.accepted) || one.what === 'taken back') {
      ended(one.job, one.at, one.state)
    } else if (one.what === 'withdrawn') {
      // Cancelled before it ran.
      ended(one.job, one.at, 'cancelled')
    } else if (one.what === 'retried') {
      const own = keyOf.get(one.job)
      const holder = held.get(own?.key ?? '')
      if (own === undefined || holder === undefined) return
      if (holder.job !== one.job && holder.until > one.at)
        violations.push({
          rule: 'key',
          message: `${one.job} began again under ${own.key}, which ${holder.job} holds`,
          entry,
        })
      held.set(own.key, { ...own, job: one.job, until: Number.POSITIVE_INFINITY })
    }
  })
  return violations
}
