/**
 * The dispatcher as a reducer: changes the state for one event and returns what to do. It reads no clock and
 * performs no I/O; dispatcher.ts does both. It changes the state in place, because thousands of events arrive
 * per second.
 */
import { removeLeases } from './buffer.ts'
import { addRunTime } from './estimates.ts'
import { type DispatchEvent, type Effects, NOTHING } from './events.ts'
import {
  accept,
  COMPARE_EVERY_MS,
  endClaim,
  endComparison,
  expectUnknownLeases,
  mayClaimMore,
  plan,
  release,
  releaseOld,
  startBuffered,
} from './plan.ts'
import {
  endOffer,
  failOffer,
  makeOffer,
  offerIdleWorker,
  receiveDispatched,
  recordWorkerOffer,
} from './offers.ts'
import { noQuarantine } from './quarantine.ts'
import { count, type DispatchState } from './state.ts'
import { expectRefills, handleEmptyClaim, receiveWakeUps, wake, wakeDue } from './wake-ups.ts'

type Handle<E extends DispatchEvent> = (state: DispatchState, event: E, now: number) => Effects | void

/** The handlers of events that only change the state return nothing. */
const HANDLERS: {
  readonly [T in DispatchEvent['type']]: Handle<Extract<DispatchEvent, { type: T }>>
} = {
  started(state, _, now) {
    state.isStarted = true
    state.comparedAt = now
    state.compareAt = now + COMPARE_EVERY_MS
    wake(state, null)
  },
  stopped(state) {
    state.isStopping = true
    return release(removeLeases(state.buffer, () => true))
  },
  quieted(state, { isQuiet }) {
    state.isQuiet = isQuiet
    if (!isQuiet) return wake(state, null)
    return release(removeLeases(state.buffer, () => true))
  },
  settingsChanged(state, { settings }, now) {
    state.settings = settings
    // With fewer workers, buffered leases may not start soon.
    const back = removeLeases(
      state.buffer,
      (_, { queue, workers }) => (settings.workers.get(queue) ?? 0) < workers,
    )
    wake(state, null)
    return [...release(back), ...startBuffered(state, now)]
  },
  kindAdded(state, { kind }) {
    state.kinds.add(kind)
  },
  jobsReady: (state, { queues }) => wake(state, queues),
  notified: (state, { wakeUps }, now) => receiveWakeUps(state, wakeUps, now),
  heartbeat(state, { ready, quarantined }) {
    state.quarantine = quarantined ? { ...state.quarantine, waits: true } : noQuarantine()
    // Includes queues without a free worker: the next free worker must get the first job of all queues.
    if (ready) wake(state, null)
    else state.isDue ||= quarantined
  },
  leaseRenewed(state, { until }) {
    if (state.aliveUntil === Number.NEGATIVE_INFINITY) wake(state, null)
    state.aliveUntil = until
  },
  leaseLost(state) {
    state.aliveUntil = Number.NEGATIVE_INFINITY
    state.term += 1
    // Other instances may hold these leases by now.
    removeLeases(state.buffer, () => true)
  },
  workerFreed(state, { queue }, now) {
    count(state.running, queue, -1)
    state.unwritten += 1
    const effects = startBuffered(state, now)
    state.isDue ||= mayClaimMore(state)
    return effects
  },
  outcomesSettled(state, { count: settled, finished }, now) {
    state.unwritten -= settled
    state.isDue ||= state.waitsForWrites
    for (const { queue, ranMs } of finished)
      if (ranMs !== undefined) addRunTime(state.estimates, queue, ranMs)
    const last = finished.at(-1)
    return last === undefined ? NOTHING : offerIdleWorker(state, last.queue, last.kind, now)
  },
  cancelled: (state, { ids }) => release(removeLeases(state.buffer, ({ lease }) => ids.includes(lease.id))),
  claimed(state, { leases }, now) {
    const claim = endClaim(state, leases)
    expectRefills(state, leases, now)
    state.isDue = true
    if (leases.length > 0) return accept(state, leases, claim.term, now)
    return claim.quarantined === 'skip' ? handleEmptyClaim(state) : NOTHING
  },
  claimFailed(state, { isUnknown, pauseMs }, now) {
    endClaim(state, null)
    state.pausedUntil = now + pauseMs
    state.isDue = true
    if (isUnknown) expectUnknownLeases(state, now)
  },
  // A job that remote dispatch delivers after this may have one of the released leases.
  unknownLeasesFound: ({ workerOffers }) => workerOffers.clear(),
  compared: (state, { moreInMs }, now) => endComparison(state, moreInMs, now),
  enqueueing: (state, { offer, jobs }, now) => makeOffer(state, offer, jobs, now),
  dispatched: (state, { offer, leases }, now) => endOffer(state, offer, leases, now),
  enqueueFailed: (state, { offer, isUnknown }, now) => failOffer(state, offer, isUnknown, now),
  workerOffered: (state, { offer }, now) => recordWorkerOffer(state, offer, now),
  jobDispatched: (state, event, now) => receiveDispatched(state, event, now),
  tick(state, _, now) {
    state.isDue = false
    if (!state.isStarted || state.isStopping) return NOTHING
    const old = releaseOld(state, now)
    wakeDue(state, now)
    return [...old, ...plan(state, now)]
  },
}

export function next(state: DispatchState, event: DispatchEvent, now: number): Effects {
  const handle = HANDLERS[event.type] as Handle<DispatchEvent>
  return handle(state, event, now) ?? NOTHING
}
