/**
 * Decides which statement to send next: a comparison, a claim, or none until later. Starts, buffers or
 * releases the leases that this instance receives.
 */
import { BOUNDS, DEFAULTS } from '../job/defaults.ts'
import type { Lease } from '../store/types/claim.ts'
import { claimableRooms, freeCapacity, idleWorkers, inHand, isWorthClaiming, mayAccept } from './capacity.ts'
import { type DispatchEffect, type Effects, NOTHING } from './events.ts'
import { advanceQuarantine, noQuarantine } from './quarantine.ts'
import { type ClaimInFlight, count, type DispatchState, type Room } from './state.ts'
import { addLease, LONGEST_MS, removeOld, shift } from './buffer.ts'
import { addPayload } from './estimates.ts'

export const COMPARE_EVERY_MS = DEFAULTS.compareEveryMs
/** The age at which an unknown lease counts as one whose reply was lost. */
export const LOST_AFTER_MS = 2_000
/** A statement may execute slightly after it was sent. */
const EXECUTED_WITHIN_MS = 500
/** How long to look for leases after a lost reply. */
const UNSURE_MS = 30_000
/**
 * An idle worker offer is valid for ten seconds. If a job is leased at the end of that time and its message
 * is lost, a comparison of the leases finds the job within six more seconds.
 */
const WORKER_OFFER_MS = 16_000

/** At most one statement is in flight: a comparison during a claim would not know its leases yet. */
export function plan(state: DispatchState, now: number): Effects {
  const statement = isBusy(state, now) ? null : nextStatement(state, now)
  const effects: DispatchEffect[] = statement === null ? [] : [statement]
  effects.push({ type: 'sleepUntil', at: nextTickAt(state, now) })
  return effects
}

/**
 * Whether this instance has no job and expects none: no quarantined job waits, no worker is offered, and no
 * reply is missing.
 */
export function isIdle(state: DispatchState, now: number): boolean {
  const { unwritten, claim, pausedUntil, quarantine, runsQuarantined, refillAt, unsureUntil } = state
  return (
    inHand(state) + unwritten + refillAt.size === 0 &&
    claim === null &&
    !(quarantine.waits || runsQuarantined) &&
    !isOffered(state, now) &&
    now >= Math.max(pausedUntil, unsureUntil)
  )
}

/** Whether a new decision could lead to a claim. Called after every job, so it must be cheap. */
export function mayClaimMore(state: DispatchState): boolean {
  if (state.claim !== null || state.isComparing || state.isQuiet) return false
  if (state.runsQuarantined || state.quarantine.waits) return true
  for (const queue of state.maybeReady) if (isWorthClaiming(state, queue)) return true
  return false
}

export function endComparison(state: DispatchState, moreInMs: number | null, now: number): void {
  state.isComparing = false
  state.isDue = true
  const hasMore = moreInMs !== null && state.comparedAt < state.unsureUntil
  state.hasMoreToCompare = hasMore
  if (hasMore) state.compareAt = now + moreInMs
  else if (isOffered(state, now)) state.compareAt = firstLostAt(now)
}

/** Jobs may be leased to this instance without its knowledge. They are found once they are old enough. */
export function expectUnknownLeases(state: DispatchState, now: number): void {
  state.claimedAt = now
  state.unsureUntil = now + UNSURE_MS
  compareBy(state, firstLostAt(now))
}

export function compareBy(state: DispatchState, at: number): void {
  if (state.compareAt <= at) return
  state.compareAt = at
  state.isDue = true
}

/** When a lease created now would count as lost. */
export function firstLostAt(now: number): number {
  return now + LOST_AFTER_MS + EXECUTED_WITHIN_MS
}

function isOffered({ lastWorkerOfferAt }: DispatchState, now: number): boolean {
  return now - lastWorkerOfferAt < WORKER_OFFER_MS
}

function isBusy({ claim, isComparing, pausedUntil }: DispatchState, now: number): boolean {
  return claim !== null || isComparing || now < pausedUntil
}

function nextStatement(state: DispatchState, now: number): DispatchEffect | null {
  if (now >= state.compareAt) {
    state.compareAt = now + COMPARE_EVERY_MS
    if (mayDiffer(state, now)) {
      state.comparedAt = now
      state.isComparing = true
      return { type: 'compare' }
    }
  }
  state.runsQuarantined &&= inHand(state) > 0
  state.waitsForWrites = !mayAccept(state, now)
  if (state.runsQuarantined || state.waitsForWrites || state.isQuiet) return null
  if (!state.quarantine.waits) return claimOthers(state, now)
  if (inHand(state) === 0) return claimQuarantined(state, now)
  state.quarantine = advanceQuarantine(state.quarantine, now)
  return state.quarantine.phase?.isQuiet === true ? null : claimOthers(state, now)
}

/**
 * Whether to look for unknown leases: once a minute on an instance without jobs, recent claims or offers.
 */
function mayDiffer(state: DispatchState, now: number): boolean {
  return (
    state.hasMoreToCompare ||
    isOffered(state, now) ||
    inHand(state) > 0 ||
    state.comparedAt < state.claimedAt + LOST_AFTER_MS ||
    now - state.comparedAt >= 6 * COMPARE_EVERY_MS
  )
}

function claimOthers(state: DispatchState, now: number): DispatchEffect | null {
  const queues = alternateLimited(
    state,
    claimableRooms(state).filter(({ queue }) => state.maybeReady.has(queue)),
  )
  if (queues.length === 0) return null
  // Cleared before the claim, so that a wake-up during the claim is not lost.
  for (const { queue } of queues) state.maybeReady.delete(queue)
  const limit = Math.min(BOUNDS.claimLimit, freeCapacity(state), totalRoom(queues))
  return startClaim(state, { queues, limit, quarantined: 'skip', term: state.term }, now)
}

/** Claims a quarantined job. Called while nothing else runs; the next claim waits until the job has ended. */
function claimQuarantined(state: DispatchState, now: number): DispatchEffect | null {
  const queues = claimableRooms(state).map(({ queue }) => ({ queue, room: 1 }))
  if (queues.length === 0) return null
  return startClaim(state, { queues, limit: 1, quarantined: 'only', term: state.term }, now)
}

function startClaim(state: DispatchState, request: ClaimInFlight, now: number): DispatchEffect {
  const { queues, limit, quarantined } = request
  state.claim = request
  state.claimedAt = now
  for (const { queue, room } of queues) count(state.reserved, queue, room)
  return { type: 'claim', request: { queues, limit, quarantined } }
}

/**
 * The store takes from queues without a limit first. If not all fit into one claim, the two groups alternate,
 * so that limited queues are not starved.
 */
function alternateLimited(state: DispatchState, queues: readonly Room[]): readonly Room[] {
  if (totalRoom(queues) <= Math.min(BOUNDS.claimLimit, freeCapacity(state))) return queues
  const limited = queues.filter(({ queue }) => state.settings.isLimited(queue))
  if (limited.length === 0 || limited.length === queues.length) return queues
  state.limitedNext = !state.limitedNext
  return state.limitedNext ? limited : queues.filter((one) => !limited.includes(one))
}

/** Updates which queues may have more jobs, according to the reply; `leases` is null after an error. */
export function endClaim(state: DispatchState, leases: readonly Lease[] | null): ClaimInFlight {
  const { claim: ended } = state
  if (ended === null) throw new Error('no claim is in flight')
  state.claim = null
  for (const { queue, room } of ended.queues) count(state.reserved, queue, -room)
  if (ended.quarantined === 'only') {
    if (leases !== null) state.quarantine = noQuarantine()
    state.runsQuarantined = leases !== null && leases.length > 0
    return ended
  }
  const isFull = leases === null || leases.length >= ended.limit
  for (const { queue, room } of ended.queues) {
    if (isFull || leases.filter((lease) => lease.queue === queue).length >= room) {
      state.maybeReady.add(queue)
      state.nearlyEmpty.delete(queue)
    } else state.nearlyEmpty.add(queue)
  }
  return ended
}

function nextTickAt(state: DispatchState, now: number): number {
  const times = [state.buffer.checkAt, ...state.refillAt.values(), ...state.lookAt.values()]
  if (now < state.pausedUntil) times.push(state.pausedUntil)
  else if (!isBusy(state, now)) {
    times.push(state.compareAt)
    const { phase } = state.quarantine
    if (phase !== null && phase.until > now) times.push(phase.until)
  }
  return Math.min(...times)
}

function totalRoom(queues: readonly Room[]): number {
  return queues.reduce((sum, { room }) => sum + room, 0)
}

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
