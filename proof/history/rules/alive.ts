/** No lease is taken from an instance before it expires. */
import type { Entry } from '../entry.ts'
import type { Violation } from '../violation.ts'

/** Store clocks are in whole milliseconds. */
const ROUNDING_MS = 1

export function neverTakenAlive(history: readonly Entry[]): Violation[] {
  const until = new Map<string, number>()
  const holder = new Map<string, string>()
  return history.flatMap((one, entry) => {
    if (one.what === 'alive') until.set(one.instance, one.until)
    if (one.what === 'claimed') holder.set(one.job, one.instance)
    if (one.what !== 'taken back') return []
    // The actual holder, whatever the entry says.
    const instance = holder.get(one.job) ?? one.instance
    const leftMs = (until.get(instance) ?? 0) - one.at
    if (leftMs <= ROUNDING_MS) return []
    const message = `${one.job} was taken from ${instance}, which had ${leftMs.toFixed(0)} ms left`
    return [{ rule: 'taken alive', message, entry } satisfies Violation]
  })
}
