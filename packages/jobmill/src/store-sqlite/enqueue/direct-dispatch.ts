/**
 * Direct dispatch: chooses the new jobs that the enqueuing instance may start at once. They are written as
 * running, so that enqueue and claim are one write. They never overtake a job that was ready before.
 */
import type { NewJob } from '../../job/enqueue/new-job.ts'
import { insertLeased } from '../../store/insert-leased.ts'
import { isOneWrite } from '../../store/batch/one-write.ts'
import type { DirectDispatchOffer, Lease } from '../../store/types/claim.ts'
import { dueTime, type Holder } from './initial-state.ts'
import { claimingInstance } from '../instances/liveness.ts'
import { turnOf } from '../groups/turns.ts'
import { openQueue } from '../claim/open-queues.ts'
import { bestReadyPriority } from '../claim/ready-lanes.ts'
import { roomByQueue } from '../claim/choose.ts'
import type { Work } from '../work.ts'

interface Dispatched extends Holder {
  /** Their indexes in the call. */
  readonly chosen: ReadonlySet<number>
}

/** Undefined when there is nothing to dispatch. Call it before any job of the call is written. */
export function chooseDispatched(
  work: Work,
  jobs: readonly NewJob[],
  { instance, queues, kinds }: DirectDispatchOffer,
): Dispatched | undefined {
  if (!isOneWrite(jobs)) return undefined
  const rooms = roomByQueue(queues)
  const known = new Set(kinds)
  const isCandidate = (job: NewJob): boolean =>
    (rooms.get(job.queue) ?? 0) > 0 && known.has(job.kind) && isFree(work, job)
  const candidates = jobs.map((job, at) => ({ job, at })).filter(({ job }) => isCandidate(job))
  const instancePk = candidates.length === 0 ? undefined : claimingInstance(work, instance)
  if (instancePk === undefined) return undefined
  const chosen = new Set<number>()
  for (const [queue, same] of Map.groupBy(candidates, ({ job }) => job.queue)) {
    const best = bestPriorityBefore(work, queue)
    const eligible = same
      .filter(({ job }) => job.priority < best)
      .toSorted((a, b) => a.job.priority - b.job.priority)
    for (const { at } of eligible.slice(0, rooms.get(queue))) chosen.add(at)
  }
  if (chosen.size === 0) return undefined
  return { instance, instancePk, token: work.counters.takeToken(work.now), chosen }
}

/**
 * Whether nothing holds the job back: it has no dedupe key and no order key, is due, and its group has no
 * limits.
 */
function isFree(work: Work, job: NewJob): boolean {
  if (job.dedupe !== null || job.orderKey !== null || dueTime(job, work.now) > work.now) return false
  return job.group === null || !turnOf(work, work.names.needQueue(job.queue), job.group).waits
}

/**
 * New jobs must have a better priority than this. A queue without direct dispatch returns one that no job can
 * beat.
 */
function bestPriorityBefore(work: Work, name: string): number {
  const id = work.names.needQueue(name)
  const isOpen = openQueue(work, name)?.limit_id === null
  return isOpen ? bestReadyPriority(work.sql, id) : Number.NEGATIVE_INFINITY
}

/** Caches and returns the lease of a job that was written as running in this row. */
export function giveLease(work: Work, job: NewJob, { token, instance }: Holder, pk: number): Lease {
  const { leases, names, now } = work
  const [queueId, tagged] = [names.needQueue(job.queue), job.tags.length > 0]
  leases.give(job.id, { pk, queueId, token, attempt: 1, startedAt: now, instance, tagged })
  return insertLeased(job, token, now)
}
