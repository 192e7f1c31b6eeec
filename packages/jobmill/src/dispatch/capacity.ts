/**
 * How many jobs of each queue this instance may run and claim. Fewer workers means fewer claims; running jobs
 * are never interrupted.
 */
import { countOf, MAX_BUFFERED } from './buffer.ts'
import { countStartingSoon } from './estimates.ts'
import { countIn, type DispatchState, type Room } from './state.ts'

/** The queues worth a claim, and how many jobs to claim from each: free workers plus prefetch. */
export function claimableRooms(state: DispatchState): Room[] {
  const free = freeCapacity(state)
  const rooms: Room[] = []
  for (const queue of state.settings.workers.keys()) {
    const room = isWorthClaiming(state, queue) ? Math.min(free, roomIn(state, queue)) : 0
    if (room > 0) rooms.push({ queue, room })
  }
  return rooms
}

/** False while this instance holds enough jobs, because claims of a few jobs would cost a statement each. */
export function isWorthClaiming(state: DispatchState, queue: string): boolean {
  const buffered = countOf(state.buffer, queue)
  return idleWorkers(state, queue) > buffered || buffered <= prefetchLimit(state, queue) / 2
}

/** The free capacity of a queue, whether or not it is worth a claim. */
export function roomIn(state: DispatchState, queue: string): number {
  const used = countOf(state.buffer, queue) + countIn(state.reserved, queue)
  return Math.max(0, idleWorkers(state, queue) + prefetchLimit(state, queue) - used)
}

/** The free capacity over all queues. */
export function freeCapacity(state: DispatchState): number {
  if (state.capacity === null) return Number.MAX_SAFE_INTEGER
  return Math.max(
    0,
    unusedCapacity(state) + longestPrefetch(state) - state.buffer.total - state.reserved.total,
  )
}

export function idleWorkers(state: DispatchState, queue: string): number {
  const own = state.settings.workers.get(queue) ?? 0
  return Math.max(0, Math.min(unusedCapacity(state), own - countIn(state.running, queue)))
}

/** Running jobs, buffered leases, and jobs that a statement in flight may return. */
export function inHand({ running, buffer, reserved }: DispatchState): number {
  return running.total + buffer.total + reserved.total
}

/**
 * False while this instance is not known to be alive, or too many outcomes wait to be written: they use
 * memory, and their jobs would run again after a crash.
 */
export function mayAccept(state: DispatchState, now: number): boolean {
  if (now >= state.aliveUntil) return false
  if (state.unwritten <= 2) return true
  return state.unwritten <= 2 * (allWorkers(state) + longestPrefetch(state))
}

/**
 * How many leases of a queue may wait for a worker. None for queues with a limit, because a returned job
 * would waste a token. None when queues compete for workers, so that each worker gets the job that comes
 * first overall.
 */
function prefetchLimit(state: DispatchState, queue: string): number {
  const { settings, buffer, estimates } = state
  if (settings.isLimited(queue) || isScarce(state)) return 0
  const others = buffer.total - countOf(buffer, queue)
  const soon = countStartingSoon(estimates, queue, settings.workers.get(queue) ?? 0)
  return Math.max(0, Math.min(MAX_BUFFERED - others, soon))
}

function longestPrefetch(state: DispatchState): number {
  let longest = 0
  for (const queue of state.settings.workers.keys()) longest = Math.max(longest, prefetchLimit(state, queue))
  return longest
}

/** Whether the capacity is below the sum of the workers. */
function isScarce({ capacity, settings }: DispatchState): boolean {
  return capacity !== null && capacity < sum(settings.workers)
}

function allWorkers({ capacity, settings }: DispatchState): number {
  return Math.min(capacity ?? Number.MAX_SAFE_INTEGER, sum(settings.workers))
}

function unusedCapacity({ capacity, running }: DispatchState): number {
  return capacity === null ? Number.MAX_SAFE_INTEGER : Math.max(0, capacity - running.total)
}

function sum(workers: ReadonlyMap<string, number>): number {
  let total = 0
  for (const own of workers.values()) total += own
  return total
}
