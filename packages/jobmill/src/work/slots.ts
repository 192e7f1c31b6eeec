/** How many jobs of each queue this instance may run: its workers. Shrinking means not claiming; what runs is never interrupted. */
import type { Attempts } from './attempts.ts'

export interface Slots {
  /** Queues with at least one free worker. */
  room(): { readonly queue: string; readonly room: number }[]
  /** All workers of this instance. */
  total(): number
}

export function slots(workers: () => ReadonlyMap<string, number>, attempts: Attempts): Slots {
  return {
    room: () =>
      [...workers()].flatMap(([queue, most]) => {
        const room = most - attempts.running(queue)
        return room > 0 ? [{ queue, room }] : []
      }),
    total: () => [...workers().values()].reduce((sum, most) => sum + most, 0),
  }
}
