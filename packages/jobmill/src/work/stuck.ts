/** Reports handlers that ignore their abort signal, once each. Their workers stay busy until they end. */
import type { Emit } from '../job/events.ts'
import type { Attempt } from './attempt.ts'

export function stuckWatch(afterMs: number, emit: Emit) {
  const reported = new WeakSet<Attempt>()
  return (live: Iterable<Attempt>, now: number): void => {
    for (const attempt of live) {
      const { interruption, interruptedAt } = attempt
      if (attempt.ended || interruption === null || interruptedAt === null || reported.has(attempt)) continue
      if (now - interruptedAt < afterMs) continue
      reported.add(attempt)
      emit('stuck', { ...attempt.ref, why: interruption.why, sinceMs: now - interruptedAt })
    }
  }
}
