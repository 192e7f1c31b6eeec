/** How many jobs of each queue this instance may run and claim: its workers. Shrinking means not claiming; what runs is never interrupted. */
import type { Ahead } from './ahead.ts'
import type { Attempts } from './attempts.ts'

export type Room = { readonly queue: string; readonly room: number }

export interface Slots {
  /** Queues that it is worth claiming from, and for how many jobs there is room in each: free workers, and what begins soon after. */
  room(): Room[]
  /** Whether a claim from this queue is worth its statement. */
  isWorthIt(queue: string): boolean
  /** For how many jobs of this queue there is room, whether it is worth a claim or not. */
  roomFor(queue: string): number
  /** How many more jobs there is room for, over all queues. */
  free(): number
  /** Workers of a queue that have nothing to do. */
  idle(queue: string): number
  /** All workers of this instance. */
  total(): number
  /** Queues compete for workers: it may run fewer jobs at once than its queues have workers. */
  readonly isScarce: boolean
  /** How many jobs may be claimed before a worker is free for them. */
  soon(): number
  /** Room that a write on its way may fill. Returns what ends that. */
  reserve(rooms: readonly Room[]): () => void
  /** How much room is reserved, over all queues. */
  readonly reserved: number
}

export interface SlotsOptions {
  readonly workers: () => ReadonlyMap<string, number>
  readonly attempts: Pick<Attempts, 'running'>
  readonly ahead: () => Pick<Ahead, 'count' | 'most'>
  /** The most that it runs at once, over all queues; null for what its workers come to. */
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

  /** With enough in hand it is not: a few at a time would cost a statement each. */
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
