/**
 * What rang while nobody waited for it: between an empty claim and the wait after it, a ring must not get lost. It is told as it rang, so that who was
 * busy when others were asked does not look for their jobs.
 */
import { forEverybody, type Rung } from '../store/rung.ts'

export interface MissedRings {
  /** Somebody waits for these queues, until a ring for one of them or until the function that it gets is called. */
  waits(queues: readonly string[]): () => void
  rang(rungs: readonly Rung[] | 'all'): void
  /** What rang for these queues, which is then heard. */
  take(queues: readonly string[]): Rung[]
  forget(queues: readonly string[]): void
}

/** More of one queue than this, and everybody may as well look. */
const MOST_RINGS = 16

export function missedRings(): MissedRings {
  const waiting = new Set<ReadonlySet<string>>()
  const missed = new Map<string, readonly Rung[]>()
  // Something rang, and nobody knows for which queue.
  let any = false

  function forget(queues: readonly string[]): void {
    any = false
    for (const queue of queues) missed.delete(queue)
  }

  /** The queues of those who hear one of these: they go and look now, so that they wait no more. */
  function wake(rungs: readonly Rung[]): ReadonlySet<string> {
    const awake = new Set<string>()
    for (const queues of waiting) {
      if (!rungs.some(({ queue }) => queues.has(queue))) continue
      waiting.delete(queues)
      for (const queue of queues) awake.add(queue)
    }
    return awake
  }

  return {
    waits(queues) {
      const one = new Set(queues)
      waiting.add(one)
      return () => void waiting.delete(one)
    },
    rang(rungs) {
      if (rungs === 'all') {
        any = waiting.size === 0
        waiting.clear()
        return
      }
      const awake = wake(rungs)
      for (const rung of rungs) {
        const { queue } = rung
        if (!awake.has(queue)) missed.set(queue, together(missed.get(queue) ?? [], rung))
      }
    },
    take(queues) {
      const rungs = any ? queues.map(forEverybody) : queues.flatMap((queue) => missed.get(queue) ?? [])
      if (rungs.length > 0) forget(queues)
      return rungs
    },
    forget,
  }
}

/** A ring that is told again with more jobs takes its own place. */
function together(before: readonly Rung[], rung: Rung): readonly Rung[] {
  const others = before.filter(({ turn, skip }) => turn !== rung.turn || skip !== rung.skip)
  return others.length < MOST_RINGS ? [...others, rung] : [forEverybody(rung.queue)]
}
