/**
 * The reaper: returns the jobs of expired instances to their queues. Marking the instance and moving its jobs
 * are one transaction under the write lock, so a renewal or a finish comes before or after all of it.
 */
import { crashError } from '../../job/attempt/crash.ts'
import { type Death, onDeadJob } from '../../job/attempt/on-dead.ts'
import { stateOfCode } from '../../job/state.ts'
import type { InstancesPart } from '../../store/parts.ts'
import type { Reaped, ReapedJob } from '../../store/types/replies.ts'
import { recordRevoked } from '../finish/attempts.ts'
import { enqueue } from '../enqueue/enqueue.ts'
import { endInstance, LOST, runningUnder } from './instances.ts'
import { CANCELLED, DEAD, type JobRow, READY } from '../job-row.ts'
import { endJob, putBack, refundAttempt } from '../finish/leave-running.ts'
import { noteLost } from './lost-jobs.ts'
import { cancelChildren } from '../operate/actions.ts'
import type { Look, Work } from '../work.ts'

// Reads the front of jobmill_instance_expiry.
const EXPIRED = `
  SELECT pk, id, on_dead FROM jobmill_instance INDEXED BY jobmill_instance_expiry
  WHERE state = 0 AND expires_at <= ? ORDER BY expires_at LIMIT ?`

// Looks up each of the few ended instances in jobmill_job_running. On SQLite no claim commits late, but a
// restored file may contain such jobs.
const ENDED_AND_HOLDING = `
  SELECT pk, on_dead FROM jobmill_instance AS i INDEXED BY jobmill_instance_ended
  WHERE i.state > 0 AND EXISTS (
    SELECT 1 FROM jobmill_job AS j INDEXED BY jobmill_job_running WHERE j.state = 2 AND j.instance_pk = i.pk)
  LIMIT ?`

type ReapOptions = Parameters<InstancesPart['reap']>[0]

interface Holder {
  readonly pk: number
  readonly on_dead: string
}

export function reap(work: Work, { crashesUntilDead, limit }: ReapOptions): Reaped {
  const expired = work.sql(EXPIRED).all(work.now, limit) as (Holder & { id: string })[]
  const deaths: Death[] = []
  const cancelled: JobRow[] = []
  const takeAll = ({ pk, on_dead }: Holder): ReapedJob[] => {
    const followed = JSON.parse(on_dead) as string[]
    return runningUnder(work.sql, pk).map((row) => {
      const job = takeBack(work, row, crashesUntilDead)
      if (job.state === 'cancelled') cancelled.push(row)
      if (job.state === 'dead' && followed.includes(job.kind))
        deaths.push({ ...job, orderKey: row.order_key, error: crashError(job.crashes), at: work.now })
      return job
    })
  }
  const jobs = expired.flatMap((instance) => {
    endInstance(work, instance.pk, LOST)
    return takeAll(instance)
  })
  const late = (work.sql(ENDED_AND_HOLDING).all(limit) as Holder[]).flatMap(takeAll)
  // After all rows were taken back: the children may be among them.
  for (const job of cancelled) cancelChildren(work, job)
  // Under the same write lock, so once per death. Sorted, so that the order does not depend on which instance
  // comes first.
  const inOrder = deaths.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  enqueue(work, inOrder.map(onDeadJob))
  return { instances: expired.map(({ id }) => id), jobs: [...jobs, ...late] }
}

/** Whether `reap` has something to do. */
export function mayReap({ sql, now }: Look): boolean {
  return sql(EXPIRED).get(now, 1) !== undefined || sql(ENDED_AND_HOLDING).get(1) !== undefined
}

function takeBack(work: Work, job: JobRow, crashesUntilDead: number): ReapedJob {
  const crashes = job.crashes + 1
  const error = job.cancel_reason ?? crashError(crashes)
  recordRevoked(work.sql, job, { outcome: 'interrupted', error, endedAt: work.now })
  const counters = { attempt: refundAttempt(job.attempt), crashes, records: job.records + 1 }
  const to = job.cancel_reason !== null ? CANCELLED : crashes >= crashesUntilDead ? DEAD : READY
  if (to !== CANCELLED) noteLost(work, job)
  if (to === READY) putBack(work, job, counters)
  else endJob(work, job, to, { ...counters, error })
  return {
    id: job.id,
    queue: work.names.queueName(job.queue_id),
    kind: work.names.kindName(job.kind_id),
    crashes,
    state: stateOfCode(to) as ReapedJob['state'],
  }
}
