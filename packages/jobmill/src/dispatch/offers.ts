/**
 * Direct dispatch offers free workers to jobs that this process is about to write. The store inserts jobs for
 * which it accepts the offer as running, without a claim.
 *
 * Remote dispatch: when a job that another process notified about ends here, this instance offers its idle
 * worker to that process. The other process may then insert its next job of the kind with a lease for this
 * instance.
 */
import type { NewJob } from '../job/enqueue/new-job.ts'
import type { DispatchedJob, Lease } from '../store/types/claim.ts'
import { countOf } from './buffer.ts'
import { freeCapacity, idleWorkers, inHand, mayAccept, roomIn } from './capacity.ts'
import { type Effects, NOTHING } from './events.ts'
import { accept, compareBy, expectUnknownLeases, firstLostAt, LOST_AFTER_MS, mayClaimMore } from './plan.ts'
import { count, type DispatchState, type Offer, type Room } from './state.ts'

/** Dispatched jobs have started within this time. */
const STARTED_WITHIN_MS = 500
/**
 * The maximum number of open idle worker offers. A slow instance accumulates unused offers, so the oldest are
 * dropped.
 */
const MAX_WORKER_OFFERS = 100

/**
 * Whether jobs may be accepted outside of claims. Not while a quarantined job runs or the instance drains for
 * one.
 */
export function isOpen(state: DispatchState, now: number): boolean {
  if (state.isStopping || state.isQuiet) return false
  return !state.runsQuarantined && !state.quarantine.waits && mayAccept(state, now)
}

/** Reserves as many workers as the jobs of a write can use, and leaves the others to claims. */
export function makeOffer(state: DispatchState, number: number, jobs: readonly NewJob[], now: number): void {
  if (!isOpen(state, now)) return
  const queues = roomsFor(state, jobs)
  if (queues.length === 0) return
  for (const { queue, room } of queues) count(state.reserved, queue, room)
  state.offers.set(number, { queues, sentAt: now, term: state.term })
}

function roomsFor(state: DispatchState, jobs: readonly NewJob[]): Room[] {
  const wanted = new Map<string, number>()
  for (const job of jobs)
    if (canStartNow(job) && state.kinds.has(job.kind)) wanted.set(job.queue, (wanted.get(job.queue) ?? 0) + 1)
  let free = freeCapacity(state)
  const rooms: Room[] = []
  for (const [queue, jobsOf] of wanted) {
    const room = Math.min(jobsOf, free, roomIn(state, queue))
    if (room <= 0) continue
    free -= room
    rooms.push({ queue, room })
  }
  return rooms
}

function canStartNow({ dedupe, orderKey, delayMs, dueAt }: NewJob): boolean {
  return dedupe === null && orderKey === null && delayMs === 0 && dueAt === null
}

export function endOffer(
  state: DispatchState,
  number: number,
  leases: readonly Lease[],
  now: number,
): Effects {
  const offer = withdraw(state, number)
  // A comparison may have released leases of this age as lost, or may release them before they start.
  const isLate = offer === undefined || now - offer.sentAt >= LOST_AFTER_MS - STARTED_WITHIN_MS
  return leases.length === 0 ? NOTHING : accept(state, leases, isLate ? undefined : offer.term, now)
}

export function failOffer(state: DispatchState, number: number, isUnknown: boolean, now: number): void {
  withdraw(state, number)
  if (isUnknown) expectUnknownLeases(state, now)
}

function withdraw(state: DispatchState, number: number): Offer | undefined {
  const offer = state.offers.get(number)
  state.offers.delete(number)
  for (const { queue, room } of offer?.queues ?? []) count(state.reserved, queue, -room)
  state.isDue ||= mayClaimMore(state)
  return offer
}

/** Offers an idle worker after a job has ended here. Jobs of limited queues are leased only by claims. */
export function offerIdleWorker(state: DispatchState, queue: string, kind: string, now: number): Effects {
  if (inHand(state) > 0 || !isOpen(state, now) || state.settings.isLimited(queue)) return NOTHING
  return [{ type: 'offerWorker', queue, kind, offer: state.lastWorkerOffer + 1 }]
}

/** Records a sent offer. From now on a job may be leased to this instance without its knowledge. */
export function recordWorkerOffer(state: DispatchState, offer: number, now: number): void {
  state.lastWorkerOffer = offer
  state.lastWorkerOfferAt = now
  state.workerOffers.set(offer, state.term)
  state.workerOffers.delete(offer - MAX_WORKER_OFFERS)
  compareBy(state, firstLostAt(now))
}

/** Releases leases that arrive too late or find no idle worker, so that another instance can run them. */
export function receiveDispatched(
  state: DispatchState,
  { offer, lease }: DispatchedJob,
  now: number,
): Effects {
  const term = state.workerOffers.get(offer)
  state.workerOffers.delete(offer)
  const isFree = isOpen(state, now) && idleWorkers(state, lease.queue) > countOf(state.buffer, lease.queue)
  return accept(state, [lease], isFree ? term : undefined, now)
}
