/** Nothing is taken from an instance before the time is over that it was promised: recovery never guesses. */
import type { Entry } from '../entry.ts'
import type { Violation } from '../violation.ts'

/** Clocks of stores are in whole milliseconds. */
const ROUNDING_MS = 1

export function neverTakenAlive(history: readonly Entry[]): Violation[] {
  const until = new Map<string, number>()
  const holder = new Map<string, string>()
  return history.flatMap((one, entry) => {
    if (one.what === 'alive') until.set(one.instance, one.until)
    if (one.what === 'claimed') holder.set(one.job, one.instance)
    if (one.what !== 'taken back') return []
    // Whoever it is said to be taken from.
    const instance = holder.get(one.job) ?? one.instance
    const leftMs = (until.get(instance) ?? 0) - one.at
    if (leftMs <= ROUNDING_MS) return []
    const told = `${one.job} was taken from ${instance}, which had ${leftMs.toFixed(0)} ms left`
    return [{ rule: 'taken alive', told, entry } satisfies Violation]
  })
}
