/**
 * How many jobs of each queue this instance may run and claim. Fewer workers means fewer claims; running jobs
 * are never interrupted.
 */
import type { Ahead } from './ahead.ts'
import type { Attempts } from './attempts.ts'

export type Room = { readonly queue: string; readonly room: number }

export interface Slots {
  /** Queues worth a claim, and how many jobs to claim from each: free workers plus prefetch. */
  room(): Room[]
  /** Whether a claim from this queue is worth its statement. */
  isWorthIt(queue: string): boolean
  /** Free capacity of this queue, whether or not it is worth a claim. */
  roomFor(queue: string): number
  /** Free capacity over all queues. */
  free(): number
  /** Idle workers of a queue. */
  idle(queue: string): number
  /** All workers of this instance. */
  total(): number
  /** Whether queues compete for workers, because the capacity is below the sum of their workers. */
  readonly isScarce: boolean
  /** How many jobs may be prefetched. */
  soon(): number
  /** Reserves capacity for a write in flight. Returns a function that releases it. */
  reserve(rooms: readonly Room[]): () => void
  /** Reserved capacity over all queues. */
  readonly reserved: number
}

export interface SlotsOptions {
  readonly workers: () => ReadonlyMap<string, number>
  readonly attempts: Pick<Attempts, 'running'>
  readonly ahead: () => Pick<Ahead, 'count' | 'most'>
  /** The maximum number of concurrent jobs over all queues. Null for the sum of its workers. */
  readonly capacity: number | null
}

export function slots({ workers, attempts, ahead, capacity }: SlotsOptions): Slots {
  const reserved = new Map<string, number>()
  let reservedInAll = 0

  const unused = (): number =>
    capacity === null ? Number.MAX_SAFE_INTEGER : Math.max(0, capacity - attempts.running())
  const idle = (queue: string): number =>
    Math.max(0, Math.min(unused(), (workers().get(queue) ?? 0) - attempts.running(queue)))

  function roomFor(queue: string): number {
    const { count, most } = ahead()
    return Math.max(0, idle(queue) + most(queue) - count(queue) - (reserved.get(queue) ?? 0))
  }

  /** Not with enough jobs in hand: claims of a few jobs would cost a statement each. */
  function isWorthIt(queue: string): boolean {
    const { count, most } = ahead()
    return idle(queue) > count(queue) || count(queue) <= most(queue) / 2
  }

  const soon = (): number => Math.max(0, ...[...workers().keys()].map((queue) => ahead().most(queue)))

  const all = (): number => [...workers().values()].reduce((sum, own) => sum + own, 0)
  const free = (): number =>
    capacity === null
      ? Number.MAX_SAFE_INTEGER
      : Math.max(0, unused() + soon() - ahead().count() - reservedInAll)

  return {
    idle,
    soon,
    isWorthIt,
    roomFor,
    room() {
      const most = free()
      return [...workers().keys()].flatMap((queue) => {
        const room = isWorthIt(queue) ? Math.min(most, roomFor(queue)) : 0
        return room > 0 ? [{ queue, room }] : []
      })
    },
    free,
    get isScarce() {
      return capacity !== null && capacity < all()
    },
    total: () => (capacity === null ? all() : Math.min(all(), capacity)),
    get reserved() {
      return reservedInAll
    },
    reserve(rooms) {
      const add = (sign: 1 | -1): void => {
        for (const { queue, room } of rooms) {
          reserved.set(queue, (reserved.get(queue) ?? 0) + sign * room)
          reservedInAll += sign * room
        }
      }
      add(1)
      let held = true
      return () => {
        if (held) add(-1)
        held = false
      }
    },
  }
}
