/**
 * No needless repeats: an attempt that ended under its lease is recorded as such, not returned to the queue,
 * and a done job is not leased again during its retention.
 */
import type { Entry } from '../entry.ts'
import { retentionTracker } from '../retention-tracker.ts'
import type { Violation } from '../violation.ts'

export function notRepeated(history: readonly Entry[]): Violation[] {
  const ended = new Set<string>()
  const kept = retentionTracker()
  return history.flatMap((one, entry) => {
    kept.see(one)
    if (one.what === 'ended') ended.add(`${one.job} ${one.token}`)
    const message = problemOf(one)
    return message === null ? [] : [{ rule: 'repeated', message, entry } satisfies Violation]
  })

  function problemOf(one: Entry): string | null {
    if (one.what === 'finished' && one.accepted && one.released === true && one.again !== true)
      return ended.has(`${one.job} ${one.token}`)
        ? `${one.job} was released under ${one.token} after its handler had ended`
        : null
    if (one.what === 'claimed' && kept.isDone(one.job, one.at))
      return `${one.job} was leased under ${one.token} after it was done`
    return null
  }
}
