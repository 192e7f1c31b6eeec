/**
 * Direct dispatch: chooses the new jobs that the enqueuing instance may start at once. They are written as
 * running, so that enqueue and claim are one write. They never overtake a job that was ready before.
 */
import type { NewJob } from '../../job/new-job.ts'
import { insertLeased } from '../../store/insert-leased.ts'
import type { HandOff, Lease } from '../../store/types/claim.ts'
import type { Holder } from './initial-state.ts'
import { dueTime } from './due-time.ts'
import { aliveInstance } from '../instances/liveness.ts'
import { openQueue } from '../claim/open-queues.ts'
import { bestReadyPriority } from '../claim/ready-lanes.ts'
import { roomByQueue } from '../claim/room.ts'
import type { Work } from '../work.ts'

interface HandedOff extends Holder {
  /** Their indexes in the call. */
  readonly chosen: ReadonlySet<number>
}

/** Undefined when there is nothing to dispatch. Call it before any job of the call is written. */
export function chooseHandOff(work: Work, jobs: readonly NewJob[], handOff: HandOff): HandedOff | undefined {
  const candidates = candidatesByQueue(work.now, jobs, handOff)
  const instancePk = candidates.size === 0 ? undefined : aliveInstance(work, handOff.instance)
  if (instancePk === undefined) return undefined
  const chosen = new Set<number>()
  for (const { queue, room, indexes } of candidates.values()) {
    const best = bestPriorityBefore(work, queue)
    const eligible = indexes.filter((at) => priorityOf(jobs, at) < best)
    eligible.sort((a, b) => priorityOf(jobs, a) - priorityOf(jobs, b) || a - b)
    for (const at of eligible.slice(0, room)) chosen.add(at)
  }
  if (chosen.size === 0) return undefined
  return { instance: handOff.instance, instancePk, token: work.counters.takeToken(work.now), chosen }
}

interface Candidates {
  readonly queue: string
  readonly room: number
  readonly indexes: number[]
}

/** The candidates by the content of the call alone. */
function candidatesByQueue(
  now: number,
  jobs: readonly NewJob[],
  { queues, kinds }: HandOff,
): Map<string, Candidates> {
  const rooms = roomByQueue(queues)
  const known = new Set(kinds)
  const candidates = new Map<string, Candidates>()
  for (let at = 0; at < jobs.length; at += 1) {
    const job = jobs[at] as NewJob
    const room = rooms.get(job.queue) ?? 0
    if (room <= 0 || !known.has(job.kind) || !isFree(job, now)) continue
    const same = candidates.get(job.queue)
    if (same === undefined) candidates.set(job.queue, { queue: job.queue, room, indexes: [at] })
    else same.indexes.push(at)
  }
  return candidates
}

/** Whether nothing holds the job back: it has no dedupe key and no order key, and is due. */
function isFree(job: NewJob, now: number): boolean {
  return job.dedupe === null && job.orderKey === null && dueTime(job, now) <= now
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

function priorityOf(jobs: readonly NewJob[], at: number): number {
  return jobs[at]?.priority ?? 0
}

/** Caches and returns the lease of a job that was written as running in this row. */
export function giveLease(
  { leases, names, now }: Work,
  job: NewJob,
  { token, instance }: Holder,
  pk: number,
): Lease {
  leases.give(job.id, {
    pk,
    queueId: names.needQueue(job.queue),
    token,
    attempt: 1,
    startedAt: now,
    instance,
    tagged: job.tags.length > 0,
  })
  return insertLeased(job, token, now)
}
