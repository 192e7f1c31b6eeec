/** P18: an attempt that was parked does nothing more. Its handler runs again under the next token. */
import type { Entry } from '../entry.ts'
import type { Violation } from '../violation.ts'

export function parkedIsOver(history: readonly Entry[]): Violation[] {
  const parked = new Set<string>()
  return history.flatMap((one, entry) => {
    if (one.what === 'finished' && one.accepted && one.parked === true) parked.add(`${one.job} ${one.token}`)
    if (one.what !== 'step ran' && one.what !== 'step returned' && one.what !== 'effect') return []
    if (!parked.has(`${one.job} ${one.token}`)) return []
    const message = `${one.job} continued under ${one.token} after it was parked`
    return [{ rule: 'parked', message, entry } satisfies Violation]
  })
}
