/** register, renew, deregister and reap: who is alive, and what becomes of the jobs of who is not. */
import { crashError } from '../../job/crash.ts'
import type { NewInstance, Pulse, PulseRequest } from '../../store/instance.ts'
import type { Reaped, ReapedJob } from '../../store/replies.ts'
import { claimable } from './claim.ts'
import { runningUnder, standing } from './liveness.ts'
import { end, putBack, record, refund } from './moves.ts'
import { stageInMs } from './stage.ts'
import type { OracleJob, OracleState, Run } from './state.ts'

export function register(state: OracleState, now: number, { leaseMs, ...instance }: NewInstance): void {
  state.instances.set(instance.id, {
    ...instance,
    startedAt: now,
    renewedAt: now,
    expiresAt: now + leaseMs,
    ended: null,
    endedAt: null,
  })
}

export function renew(state: OracleState, now: number, request: PulseRequest): Pulse {
  const instance = state.instances.get(request.instance)
  const alive = instance !== undefined && instance.ended === null
  if (alive && (standing(now, instance) === 'expired' || now - instance.renewedAt >= request.renewEveryMs)) {
    instance.renewedAt = now
    instance.expiresAt = now + request.leaseMs
  }
  const asked = {
    queues: request.queues.map((queue) => ({ queue, room: 1 })),
    kinds: request.kinds,
    limit: 1,
  }
  return {
    alive,
    cancels: runningUnder(state, request.instance).flatMap(({ job, run }) =>
      run.cancelReason === null ? [] : [{ id: job.id, token: run.token, reason: run.cancelReason }],
    ),
    settingsVersion: state.settingsVersion,
    ready: claimable(state, now, { ...asked, suspects: 'skip' }).length > 0,
    suspect: claimable(state, now, { ...asked, suspects: 'only' }).length > 0,
    stageInMs: stageInMs(state, now),
    expired: [...state.instances.values()].some((one) => standing(now, one) === 'expired'),
  }
}

export function deregister(state: OracleState, now: number, id: string): number {
  const instance = state.instances.get(id)
  if (instance === undefined || instance.ended !== null) return 0
  instance.ended = 'stopped'
  instance.endedAt = now
  const jobs = runningUnder(state, id)
  for (const { job, run } of jobs) {
    if (run.cancelReason !== null) {
      // It ended, so there must be a record of how.
      record(now, job, run, { outcome: 'cancelled', error: run.cancelReason, wentTo: null })
    }
    refund(job)
    if (run.cancelReason === null) putBack(job)
    else end(state, now, job, 'cancelled')
  }
  return jobs.length
}

export interface ReapOptions {
  readonly crashesUntilDead: number
  readonly limit: number
}

/** No claim can arrive late here, so that only instances that expired can hold anything to take back. */
export function reap(state: OracleState, now: number, { crashesUntilDead, limit }: ReapOptions): Reaped {
  const expired = [...state.instances.values()]
    .filter((instance) => standing(now, instance) === 'expired')
    .toSorted((a, b) => a.expiresAt - b.expiresAt)
    .slice(0, limit)
  const jobs = expired.flatMap((instance) => {
    instance.ended = 'lost'
    instance.endedAt = now
    return runningUnder(state, instance.id).map(({ job, run }) =>
      takeBack(state, now, job, run, crashesUntilDead),
    )
  })
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
  if (to === 'ready') putBack(job)
  else end(state, now, job, to)
  return { id: job.id, queue: job.queue, kind: job.kind, crashes: job.crashes, state: to }
}
