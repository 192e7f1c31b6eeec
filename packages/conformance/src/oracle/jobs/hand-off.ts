/**
 * enqueue with direct dispatch: leases new jobs that can start at once to the instance that enqueues them.
 */
import type { Enqueued, HandOff, NewJob } from 'jobmill/store'
import { byClaimOrder, inClaimOrder, isOpen, leaseTo, limitNameOf, take } from './claim.ts'
import { enqueue } from './enqueue.ts'
import { isAlive } from '../instances/liveness.ts'
import type { OracleJob, OracleState } from '../state.ts'

export function enqueueWithHandOff(
  state: OracleState,
  now: number,
  jobs: readonly NewJob[],
  { instance, queues, kinds }: HandOff,
): Enqueued[] {
  // The state before this call: jobs of the same call do not block each other.
  const best = bestReady(state)
  const replies = enqueue(state, now, jobs)
  if (!isAlive(state, now, instance)) return replies
  const asked = new Set(jobs.map(({ id }) => id))
  const eligible = [...state.jobs.values()].filter(
    (job) =>
      asked.has(job.id) &&
      kinds.includes(job.kind) &&
      mayBegin(state, now, job) &&
      job.priority < (best.get(job.queue) ?? Number.POSITIVE_INFINITY),
  )
  const chosen = take(eligible.toSorted(byClaimOrder), roomsOf(queues), Number.POSITIVE_INFINITY)
  if (chosen.length === 0) return replies
  const leases = new Map(leaseTo(state, now, instance, chosen).map((lease) => [lease.id, lease]))
  return replies.map((reply) => {
    const lease = leases.get(reply.id)
    return lease === undefined ? reply : { ...reply, lease }
  })
}

/**
 * Delayed jobs and jobs with an order key are not ready. A job with a dedupe key may be, but is not
 * dispatched directly.
 */
function mayBegin(state: OracleState, now: number, job: OracleJob): boolean {
  const isFree = isOpen(state, now, job.queue) && limitNameOf(state, job.queue) === null
  return job.state === 'ready' && job.dedupe === null && isFree
}

/** The best ready priority by queue, of any kind, including quarantined jobs. */
function bestReady(state: OracleState): Map<string, number> {
  return new Map(
    inClaimOrder(state)
      .toReversed()
      .map(({ queue, priority }) => [queue, priority]),
  )
}

/** A queue may be listed twice: its free workers add up. */
function roomsOf(queues: HandOff['queues']): Map<string, number> {
  const rooms = new Map<string, number>()
  for (const { queue, room } of queues) rooms.set(queue, (rooms.get(queue) ?? 0) + room)
  return rooms
}
