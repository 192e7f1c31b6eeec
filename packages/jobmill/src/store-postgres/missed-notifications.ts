/**
 * What rang while nobody waited for it: between an empty claim and the wait after it, a ring must not get lost. It is told as it rang, so that who was
 * busy when others were asked does not look for their jobs.
 */
import { wakeAll, type WakeUp } from '../store/wake-up.ts'

export interface MissedNotifications {
  /** Somebody waits for these queues, until a ring for one of them or until the function that it gets is called. */
  waits(queues: readonly string[]): () => void
  notified(wakeUps: readonly WakeUp[] | 'all'): void
  /** What rang for these queues, which is then heard. */
  take(queues: readonly string[]): WakeUp[]
  forget(queues: readonly string[]): void
}

/** More of one queue than this, and everybody may as well look. */
const MOST_NOTIFICATIONS = 16

export function missedNotifications(): MissedNotifications {
  const waiting = new Set<ReadonlySet<string>>()
  const missed = new Map<string, readonly WakeUp[]>()
  // Something rang, and nobody knows for which queue.
  let any = false

  function forget(queues: readonly string[]): void {
    any = false
    for (const queue of queues) missed.delete(queue)
  }

  /** The queues of those who hear one of these: they go and look now, so that they wait no more. */
  function wake(wakeUps: readonly WakeUp[]): ReadonlySet<string> {
    const awake = new Set<string>()
    for (const queues of waiting) {
      if (!wakeUps.some(({ queue }) => queues.has(queue))) continue
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
    notified(wakeUps) {
      if (wakeUps === 'all') {
        any = waiting.size === 0
        waiting.clear()
        return
      }
      const awake = wake(wakeUps)
      for (const wakeUp of wakeUps) {
        const { queue } = wakeUp
        if (!awake.has(queue)) missed.set(queue, together(missed.get(queue) ?? [], wakeUp))
      }
    },
    take(queues) {
      const wakeUps = any ? queues.map(wakeAll) : queues.flatMap((queue) => missed.get(queue) ?? [])
      if (wakeUps.length > 0) forget(queues)
      return wakeUps
    },
    forget,
  }
}

/** A ring that is told again with more jobs takes its own place. */
function together(before: readonly WakeUp[], wakeUp: WakeUp): readonly WakeUp[] {
  const others = before.filter(({ seed, skip }) => seed !== wakeUp.seed || skip !== wakeUp.skip)
  return others.length < MOST_NOTIFICATIONS ? [...others, wakeUp] : [wakeAll(wakeUp.queue)]
}
