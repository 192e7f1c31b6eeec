/**
 * Decides how this instance reacts to a notification. Only as many workers wake as there are jobs: the first
 * instances in a shared order take them, and forward the rest if they lack free workers.
 */
import type { LimitSettings } from '../job/limit/limit.ts'
import type { Lease } from '../store/types/claim.ts'
import { shareOf, type WakeUp } from '../store/types/wake-up.ts'
import { claimableRooms } from './capacity.ts'
import type { DispatchEffect, Effects } from './events.ts'
import type { DispatchState } from './state.ts'

/** Where notifications are not forwarded, the other instances look for jobs after this delay. */
const LOOK_LATER_MS = 25
/**
 * The maximum wait for several tokens instead of one, which saves claims. A wait of up to half the burst
 * loses no tokens.
 */
const LONGEST_REFILL_MS = 50

export function wake(state: DispatchState, queues: Iterable<string> | null): void {
  for (const queue of queues ?? state.settings.workers.keys()) state.maybeReady.add(queue)
  state.isDue = true
}

export function receiveWakeUps(state: DispatchState, wakeUps: readonly WakeUp[], now: number): Effects {
  const effects: DispatchEffect[] = []
  const queues = wakeUps.filter((one) => shouldClaim(state, one, now, effects)).map(({ queue }) => queue)
  // Even without a queue to claim from, because the tick sets the timer for a later look.
  state.isDue = true
  if (queues.length === 0) return effects
  state.wasNotified = true
  wake(state, queues)
  return effects
}

function shouldClaim(state: DispatchState, wakeUp: WakeUp, now: number, effects: DispatchEffect[]): boolean {
  const { jobs, queue, passes } = wakeUp
  if (jobs === 0) return false
  const members = state.settings.members(queue)
  // Without a number of jobs, or before this instance is among the members, there is no share to compute.
  if (jobs === null || !members.some(({ instance }) => instance === state.instance)) return true
  const mine = shareOf({ ...wakeUp, jobs }, members, state.instance)
  if (mine.jobs === 0) {
    if (!passes && !state.lookAt.has(queue)) state.lookAt.set(queue, now + LOOK_LATER_MS)
    return false
  }
  const room = claimableRooms(state).find((one) => one.queue === queue)?.room ?? 0
  if (passes && mine.skip !== null) {
    if (room < mine.jobs)
      effects.push({ type: 'forward', wakeUp: { ...wakeUp, jobs: mine.jobs - room, skip: mine.skip } })
    if (room > 0) state.pendingWakeUps.set(queue, { wakeUp: { ...wakeUp, jobs: mine.jobs }, skip: mine.skip })
  }
  // Even without a free worker: the queue is then checked when one becomes free.
  return true
}

/** Looks for the reason after a claim returned nothing although jobs were expected. */
export function handleEmptyClaim(state: DispatchState): Effects {
  const effects: DispatchEffect[] = []
  // The notification was for a job that is not ready yet: it waits for its order lock or its due time.
  if (state.wasNotified) effects.push({ type: 'hurryHeartbeat' })
  state.wasNotified = false
  for (const { wakeUp, skip } of state.pendingWakeUps.values()) {
    // The jobs may be of a kind that only other instances handle.
    const kinds = state.settings.members(wakeUp.queue).flatMap((member) => member.kinds)
    if (kinds.some((kind) => !state.kinds.has(kind)))
      effects.push({ type: 'forward', wakeUp: { ...wakeUp, skip } })
  }
  state.pendingWakeUps.clear()
  return effects
}

/** Marks queues whose limit has refilled or whose next check is due. The caller decides what to claim. */
export function wakeDue(state: DispatchState, now: number): void {
  for (const [queue, at] of state.refillAt) {
    if (at > now) continue
    state.refillAt.delete(queue)
    state.maybeReady.add(queue)
  }
  for (const [queue, at] of state.lookAt) {
    if (at > now) continue
    state.lookAt.delete(queue)
    state.wasNotified = true
    state.maybeReady.add(queue)
  }
}

/**
 * After a claim from rate-limited queues: wakes them when their limits have refilled, without a query. The
 * heartbeat reports refills too and is authoritative, but runs far less often than a fast limit refills.
 */
export function expectRefills(state: DispatchState, leases: readonly Lease[], now: number): void {
  for (const queue of new Set(leases.map(({ queue }) => queue))) {
    const limit = state.settings.limit(queue)
    if (limit?.type === 'rate') state.refillAt.set(queue, now + refillMs(limit))
  }
}

function refillMs({ amount, perMs, burst }: Extract<LimitSettings, { type: 'rate' }>): number {
  const costMs = perMs / amount
  return Math.max(costMs, Math.min(LONGEST_REFILL_MS, (burst * costMs) / 2))
}
