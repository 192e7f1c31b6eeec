/**
 * An instance that lost its lease stops on its own: an attempt neither starts nor has effects after its lease
 * was taken or returned, unless its process was frozen and could not know. Effects right after waking up were
 * already in flight.
 */
import type { Entry } from '../entry.ts'
import type { Violation } from '../violation.ts'

const WAKING_MS = 50

export function stopsWhenLost(history: readonly Entry[]): Violation[] {
  const current = new Map<string, number>()
  /** When each lease ended, by job and token. */
  const overAt = new Map<string, number>()
  return history.flatMap((one, entry) => {
    if (one.what === 'claimed') current.set(one.job, one.token)
    if (one.what === 'taken back') overAt.set(`${one.job} ${String(current.get(one.job))}`, one.at)
    if (one.what === 'finished' && one.accepted && one.again !== true)
      overAt.set(`${one.job} ${one.token}`, one.at)
    if (one.what !== 'effect' && one.what !== 'started') return []
    const sinceMs = one.at - (overAt.get(`${one.job} ${one.token}`) ?? Number.POSITIVE_INFINITY)
    const isExcused =
      one.what === 'started' ? sinceMs <= one.heldUpMs : Math.min(sinceMs, one.awakeMs) <= WAKING_MS
    if (isExcused) return []
    const did = one.what === 'started' ? 'was started' : 'changed something'
    const message = `${one.job} ${did} under ${one.token}, ${sinceMs.toFixed(0)} ms after that lease of ${one.instance} was over`
    return [{ rule: 'continues', message, entry } satisfies Violation]
  })
}
