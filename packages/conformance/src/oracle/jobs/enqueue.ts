/** enqueue: inserts jobs, recognizes repeated ones, applies dedupe keys, and dispatches jobs directly. */
import {
  debouncedUntil,
  type DirectDispatchOffer,
  type Enqueued,
  isOneWrite,
  keyExpiresAt,
  type NewJob,
  newJobRow,
  newQueueRow,
  withEntriesOf,
  parseKind,
} from 'jobmill/store'
import { isClaiming } from '../instances/liveness.ts'
import { inClaimOrder, isOpen, leaseTo, limitNameOf, take } from './claim.ts'
import { makeReady, schedule } from './moves.ts'
import { leaveGroup } from './group-line.ts'
import { needsGroup } from './groups.ts'
import {
  goFirst,
  isInLine,
  isInOrderQueue,
  joinOrderQueue,
  leaveOrderQueue,
  needsOrderLock,
} from './order-key.ts'
import type { Hold, OracleJob, OracleState } from '../state.ts'

export function enqueue(state: OracleState, jobs: readonly NewJob[]): Enqueued[] {
  return jobs.map((job) => enqueueOne(state, job))
}

function enqueueOne(state: OracleState, job: NewJob): Enqueued {
  if (state.jobs.has(job.id)) return { id: job.id, outcome: 'enqueued' }
  const hold = job.dedupe === null ? undefined : holdOf(state, job.dedupe.key)
  const isDebounced = job.dedupe?.holdAfter === 'due'
  if (hold !== undefined && !isDebounced) return collide(state, job, hold)
  if (hold !== undefined && debounced(state, job, hold)) return { id: hold.holder, outcome: 'replaced' }
  if (job.dedupe !== null)
    state.holds.set(job.dedupe.key, { holder: job.id, until: keyExpiresAt(job, state.now) })
  ensureQueue(state, job.queue)
  const written = { ...newJobRow(job, state.now), steps: new Map(), events: [], children: [] }
  state.jobs.set(job.id, written)
  if (written.dueAt <= state.now) becomeDue(state, written)
  if (job.first === true && isInOrderQueue(state, written)) goFirst(state, written)
  return { id: job.id, outcome: 'enqueued' }
}

/** The hold on a key, unless it has expired. */
export function holdOf(state: OracleState, key: string): Hold | undefined {
  const hold = state.holds.get(key)
  return hold === undefined || (hold.until !== null && hold.until <= state.now) ? undefined : hold
}

function collide(state: OracleState, job: NewJob, { holder: id, until }: Hold): Enqueued {
  const holder = state.jobs.get(id)
  const waits = holder?.state === 'scheduled' || holder?.state === 'ready'
  if (
    holder === undefined ||
    !waits ||
    until !== null ||
    job.dedupe?.onConflict !== 'replace' ||
    parseKind(holder.kind).kind !== job.kind ||
    holder.steps.size > 0
  )
    return { id, outcome: 'duplicate' }
  holder.payload = job.payload
  holder.tags = withEntriesOf(holder.tags, job.tags)
  holder.enqueuedAt = state.now
  const { dueAt } = newJobRow(job, state.now)
  if (dueAt > state.now) {
    leaveOrderQueue(state, holder)
    leaveGroup(state, holder)
    schedule(state, holder, dueAt)
  } else if (holder.state === 'scheduled') {
    holder.dueAt = dueAt
    if (!isInLine(state, holder)) becomeDue(state, holder)
  }
  return { id, outcome: 'replaced' }
}

/** Whether the holder still waits for its first start, and now has what the new job brings. */
function debounced(state: OracleState, job: NewJob, { holder: id }: Hold): boolean {
  const holder = state.jobs.get(id)
  if (holder?.state !== 'scheduled' || holder.dueAt <= state.now || holder.attempts.length > 0) return false
  if (job.dedupe === null || holder.steps.size > 0) return false
  holder.dueAt = debouncedUntil(job, holder.enqueuedAt, state.now)
  Object.assign(holder, { payload: job.payload, metadata: job.metadata, tags: job.tags })
  state.holds.set(job.dedupe.key, { holder: id, until: holder.dueAt })
  return true
}

/** A scheduled job is due: it becomes ready, or waits for its order lock or for its group. */
export function becomeDue(state: OracleState, job: OracleJob): void {
  if (needsOrderLock(state, job)) joinOrderQueue(state, job)
  else if (needsGroup(state, job)) state.groupQueue.push(job.id)
  else makeReady(state, job)
}

export function ensureQueue(state: OracleState, name: string): void {
  if (state.queues.has(name)) return
  state.queues.set(name, newQueueRow())
}

/** Leases new jobs that can start at once to the instance that enqueues them. */
export function enqueueWithDirectDispatch(
  state: OracleState,
  jobs: readonly NewJob[],
  { instance, queues, kinds }: DirectDispatchOffer,
): Enqueued[] {
  // The best ready priority of each queue, of any kind, including quarantined jobs. Jobs of this call do not
  // block each other.
  const best = new Map(
    inClaimOrder(state)
      .toReversed()
      .map(({ queue, priority }) => [queue, priority]),
  )
  const replies = enqueue(state, jobs)
  if (!isOneWrite(jobs) || !isClaiming(state, instance)) return replies
  const asked = new Set(jobs.map(({ id }) => id))
  // Delayed jobs and jobs with an order key are not ready. A job with a dedupe key may be.
  const eligible = inClaimOrder(state).filter(
    (job) =>
      asked.has(job.id) &&
      job.dedupe === null &&
      kinds.includes(job.kind) &&
      isOpen(state, job.queue) &&
      limitNameOf(state, job.queue) === null &&
      job.priority < (best.get(job.queue) ?? Number.POSITIVE_INFINITY),
  )
  // A queue may be listed twice: its free workers add up.
  const rooms = new Map<string, number>()
  for (const { queue, room } of queues) rooms.set(queue, (rooms.get(queue) ?? 0) + room)
  const chosen = take(eligible, rooms, Number.POSITIVE_INFINITY)
  if (chosen.length === 0) return replies
  const leases = new Map(leaseTo(state, instance, chosen).map((lease) => [lease.id, lease]))
  return replies.map((reply) => {
    const lease = leases.get(reply.id)
    return lease === undefined ? reply : { ...reply, lease }
  })
}
