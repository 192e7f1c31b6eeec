/** reap: returns the jobs of expired instances to their queues. */
import { crashError, type Death, onDeadJob, type Reaped, type ReapedJob } from 'jobmill/store'
import { enqueue } from '../jobs/enqueue.ts'
import { endInstance } from './instances.ts'
import { runningUnder, instanceState } from './liveness.ts'
import { noteLost } from './lost-jobs.ts'
import { end, putBack, record, refund } from '../jobs/moves.ts'
import type { OracleJob, OracleState, Run } from '../state.ts'

export interface ReapOptions {
  readonly crashesUntilDead: number
  readonly limit: number
}

/** No claim can arrive late here, so only expired instances can hold jobs to reclaim. */
export function reap(state: OracleState, now: number, { crashesUntilDead, limit }: ReapOptions): Reaped {
  const deaths: Death[] = []
  const expired = [...state.instances.values()]
    .filter((instance) => instanceState(now, instance) === 'expired')
    .toSorted((a, b) => a.expiresAt - b.expiresAt)
    .slice(0, limit)
  const jobs = expired.flatMap((instance) => {
    endInstance(state, now, instance, 'lost')
    return runningUnder(state, instance.id).map(({ job, run }) => {
      const reaped = takeBack(state, now, job, run, crashesUntilDead)
      if (reaped.state === 'dead' && instance.onDead.includes(job.kind))
        deaths.push({ ...reaped, orderKey: job.orderKey, error: crashError(job.crashes), at: now })
      return reaped
    })
  })
  const inOrder = deaths.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  enqueue(state, now, inOrder.map(onDeadJob))
  return { instances: expired.map(({ id }) => id), jobs }
}

function takeBack(
  state: OracleState,
  now: number,
  job: OracleJob,
  run: Run,
  crashesUntilDead: number,
): ReapedJob {
  job.crashes += 1
  const error = run.cancelReason ?? crashError(job.crashes)
  record(now, job, run, { outcome: 'interrupted', error, wentTo: null })
  refund(job)
  const to = run.cancelReason !== null ? 'cancelled' : job.crashes >= crashesUntilDead ? 'dead' : 'ready'
  if (to !== 'cancelled') noteLost(state, job.id, run)
  if (to === 'ready') putBack(state, job)
  else end(state, now, job, to)
  return { id: job.id, queue: job.queue, kind: job.kind, crashes: job.crashes, state: to }
}
