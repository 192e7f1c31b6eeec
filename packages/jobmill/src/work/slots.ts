/** How many jobs of each queue this instance may run: its workers. Shrinking means not claiming; what runs is never interrupted. */
import type { Attempts } from './attempts.ts'

export interface Slots {
  /** Queues with at least one free worker. */
  room(): { readonly queue: string; readonly room: number }[]
  /** How many more jobs it may run, over all queues. */
  free(): number
  /** All workers of this instance. */
  total(): number
}

/** `capacity`: the most that it runs at once, over all queues; null for what its workers come to. */
export function slots(
  workers: () => ReadonlyMap<string, number>,
  attempts: Attempts,
  capacity: number | null = null,
): Slots {
  const free = (): number =>
    capacity === null ? Number.MAX_SAFE_INTEGER : Math.max(0, capacity - attempts.running())
  return {
    free,
    room() {
      const most = free()
      return [...workers()].flatMap(([queue, own]) => {
        const room = Math.min(most, own - attempts.running(queue))
        return room > 0 ? [{ queue, room }] : []
      })
    },
    total() {
      const all = [...workers().values()].reduce((sum, own) => sum + own, 0)
      return capacity === null ? all : Math.min(all, capacity)
    },
  }
}
