/** Starts, buffers or releases the leases that this instance receives. */
import type { Lease } from '../store/types/claim.ts'
import { addLease, LONGEST_MS, removeOld, shift } from './buffer.ts'
import { idleWorkers } from './capacity.ts'
import { addPayload } from './estimates.ts'
import { type DispatchEffect, type Effects, NOTHING } from './events.ts'
import { count, type DispatchState } from './state.ts'

/**
 * Accepts leases that were requested in this term, and releases all others. After a stall of the process or
 * a slow reply, another instance may hold them by now.
 */
export function accept(
  state: DispatchState,
  leases: readonly Lease[],
  term: number | undefined,
  now: number,
): Effects {
  if (state.isStopping || state.isQuiet || term !== state.term || now >= state.aliveUntil)
    return release(leases)
  for (const lease of leases) {
    addLease(state.buffer, lease, state.settings.workers.get(lease.queue) ?? 0, now)
    addPayload(state.estimates, lease.queue, lease.payload.length)
  }
  const effects = startBuffered(state, now)
  // The next tick must not come later than the check for leases that waited too long.
  state.isDue ||= state.buffer.total > 0
  return effects
}

/** Starts buffered leases on idle workers. */
export function startBuffered(state: DispatchState, now: number): Effects {
  const { buffer, running } = state
  if (buffer.total === 0 || state.isStopping) return NOTHING
  let effects: DispatchEffect[] | undefined
  for (const lane of buffer.lanes.values()) {
    for (let idle = idleWorkers(state, lane.queue); idle > 0; idle -= 1) {
      const first = shift(buffer, lane)
      if (first === undefined) break
      const { lease, since } = first
      const ms = now - since
      // After a stall the timer is late too, and another instance may hold the lease by now.
      let effect: DispatchEffect
      if (ms > LONGEST_MS) effect = { type: 'release', leases: [lease] }
      else {
        count(running, lease.queue, 1)
        effect = { type: 'run', lease, waitedMs: lease.waitedMs + Math.floor(ms), now }
      }
      // There is almost always only one effect, and an array that grows reserves space for 17.
      if (effects === undefined) effects = [effect]
      else effects.push(effect)
    }
  }
  return effects ?? NOTHING
}

/** Releases buffered leases that waited too long. */
export function releaseOld(state: DispatchState, now: number): Effects {
  if (now < state.buffer.checkAt) return NOTHING
  const leases = removeOld(state.buffer, now)
  // Prefetch stops until a job of this queue ends and provides a new run-time estimate.
  for (const { queue } of leases) state.estimates.delete(queue)
  return release(leases)
}

export function release(leases: readonly Lease[]): Effects {
  return leases.length === 0 ? NOTHING : [{ type: 'release', leases }]
}
