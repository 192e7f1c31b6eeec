/** enqueue with free workers: of the jobs that it writes, those that may begin at once are leased to whoever enqueued them. */
import type { NewJob } from '../../job/new-job.ts'
import type { HandOff } from '../../store/claim.ts'
import type { Enqueued } from '../../store/replies.ts'
import { byClaimOrder, inClaimOrder, isOpen, leaseTo, limitNameOf, take } from './claim.ts'
import { enqueue } from './enqueue.ts'
import { isAlive } from './liveness.ts'
import type { OracleJob, OracleState } from './state.ts'

export function enqueueWithHandOff(
  state: OracleState,
  now: number,
  jobs: readonly NewJob[],
  { instance, queues, kinds }: HandOff,
): Enqueued[] {
  // As it was before this call: what it writes itself is in nobody's way.
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
  const taken = take(eligible.toSorted(byClaimOrder), roomsOf(queues), Number.POSITIVE_INFINITY)
  if (taken.length === 0) return replies
  const leases = new Map(leaseTo(state, now, instance, taken).map((lease) => [lease.id, lease]))
  return replies.map((reply) => {
    const lease = leases.get(reply.id)
    return lease === undefined ? reply : { ...reply, lease }
  })
}

/** Who is delayed or has an order key is not ready; who has a dedupe key may be, and is not handed off all the same. */
function mayBegin(state: OracleState, now: number, job: OracleJob): boolean {
  const isFree = isOpen(state, now, job.queue) && limitNameOf(state, job.queue) === null
  return job.state === 'ready' && job.dedupe === null && isFree
}

/** The best priority that is ready, by queue: of any kind, suspects too. */
function bestReady(state: OracleState): Map<string, number> {
  return new Map(
    inClaimOrder(state)
      .toReversed()
      .map(({ queue, priority }) => [queue, priority]),
  )
}

/** A queue may be listed twice: its rooms add up. */
function roomsOf(queues: HandOff['queues']): Map<string, number> {
  const rooms = new Map<string, number>()
  for (const { queue, room } of queues) rooms.set(queue, (rooms.get(queue) ?? 0) + room)
  return rooms
}
