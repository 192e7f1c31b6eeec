/** register, renew and deregister: who is alive, and what becomes of the jobs of one that stops. */
import type { NewInstance, Pulse, PulseRequest } from '../../store/instance.ts'
import { claimable } from './claim.ts'
import { runningUnder, standing } from './liveness.ts'
import { end, putBack, record, refund } from './moves.ts'
import { stageInMs } from './stage.ts'
import type { OracleState } from './state.ts'

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
