/**
 * Keeps wake-ups that arrive between an empty claim and the next wait, so that they are not lost. They keep
 * their seed and number of jobs, so that an instance that was busy does not claim jobs meant for other
 * instances.
 */
import { wakeAll, type WakeUp } from '../../store/types/wake-up.ts'

/** Above this number for one queue, they are merged into a wake-up for every instance. */
const MOST_NOTIFICATIONS = 16

export function trackMissedNotifications() {
  const waiting = new Set<ReadonlySet<string>>()
  const missed = new Map<string, readonly WakeUp[]>()
  // Set by a notification that does not say which queues it is for.
  let any = false

  function forget(queues: readonly string[]): void {
    any = false
    for (const queue of queues) missed.delete(queue)
  }

  /** Ends the waits that these wake-ups concern, and returns their queues. */
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
    /**
     * Registers a wait for these queues. It ends with a wake-up for one of them, or when the returned
     * function is called.
     */
    startWaiting(queues: readonly string[]): () => void {
      const one = new Set(queues)
      waiting.add(one)
      return () => void waiting.delete(one)
    },
    add(wakeUps: readonly WakeUp[] | 'all'): void {
      if (wakeUps === 'all') {
        any = waiting.size === 0
        waiting.clear()
        return
      }
      const awake = wake(wakeUps)
      for (const wakeUp of wakeUps) {
        const { queue } = wakeUp
        if (!awake.has(queue)) missed.set(queue, mergeWakeUps(missed.get(queue) ?? [], wakeUp))
      }
    },
    /** Returns and removes the wake-ups for these queues. */
    take(queues: readonly string[]): WakeUp[] {
      const wakeUps = any ? queues.map(wakeAll) : queues.flatMap((queue) => missed.get(queue) ?? [])
      if (wakeUps.length > 0) forget(queues)
      return wakeUps
    },
    forget,
  }
}

/** A repeated wake-up with more jobs replaces the earlier one. */
function mergeWakeUps(before: readonly WakeUp[], wakeUp: WakeUp): readonly WakeUp[] {
  const others = before.filter(({ seed, skip }) => seed !== wakeUp.seed || skip !== wakeUp.skip)
  return others.length < MOST_NOTIFICATIONS ? [...others, wakeUp] : [wakeAll(wakeUp.queue)]
}
