/** A dedupe key is held by one job at a time, until it has ended, and after it is done for as long as was asked for. */
import type { Entry } from '../entry.ts'
import type { Violation } from '../violation.ts'

interface Held {
  readonly job: string
  readonly holdMs: number
  /** Infinity until its job has ended. */
  until: number
}

const ENDS = new Set(['done', 'dead', 'cancelled'])

export function keysHeld(history: readonly Entry[]): Violation[] {
  const held = new Map<string, Held>()
  const keyOf = new Map<string, string>()
  const found: Violation[] = []

  const ended = (job: string, at: number, state: string | null): void => {
    const holder = held.get(keyOf.get(job) ?? '')
    if (holder?.job !== job || !ENDS.has(state ?? '')) return
    holder.until = Math.min(holder.until, state === 'done' ? at + holder.holdMs : at)
  }

  history.forEach((one, entry) => {
    if (one.what === 'written' && one.key !== null && one.key !== undefined && !keyOf.has(one.job)) {
      const { key, holdMs } = one.key
      const before = held.get(key)
      if (before !== undefined && before.until > one.at)
        found.push({
          rule: 'key',
          told: `${one.job} was written under ${key}, which ${before.job} holds`,
          entry,
        })
      held.set(key, { job: one.job, holdMs, until: Number.POSITIVE_INFINITY })
      keyOf.set(one.job, key)
    } else if ((one.what === 'finished' && one.accepted) || one.what === 'taken back') {
      ended(one.job, one.at, one.state)
    } else if (one.what === 'withdrawn') {
      // Cancelled while it waited.
      const holder = held.get(keyOf.get(one.job) ?? '')
      if (holder?.job === one.job) holder.until = one.at
    } else if (one.what === 'retried') {
      const key = keyOf.get(one.job)
      const holder = held.get(key ?? '')
      if (key === undefined || holder === undefined) return
      if (holder.job !== one.job && holder.until > one.at)
        found.push({
          rule: 'key',
          told: `${one.job} began again under ${key}, which ${holder.job} holds`,
          entry,
        })
      held.set(key, { job: one.job, holdMs: holder.holdMs, until: Number.POSITIVE_INFINITY })
    }
  })
  return found
}
