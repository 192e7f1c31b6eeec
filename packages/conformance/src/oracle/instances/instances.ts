/**
 * register, renew and deregister: which instances are alive, and what happens to the jobs of one that stops.
 */
import type { Heartbeat, HeartbeatRequest, NewInstance } from 'jobmill/store'
import { budgetInMs, claimable } from '../jobs/claim.ts'
import { leadDuties, releaseDuties } from './duties.ts'
import { runningUnder, instanceState } from './liveness.ts'
import { takeCrashesBack } from './lost-jobs.ts'
import { end, putBack, record, refund } from '../jobs/moves.ts'
import { dropPermits } from '../limits.ts'
import { dropSlots, readSlots } from './slots.ts'
import { stageInMs } from '../jobs/stage.ts'
import type { OracleInstance, OracleState } from '../state.ts'
import { scheduleInMs } from '../schedules/ticks.ts'

export function register(
  state: OracleState,
  now: number,
  { leaseMs, stoodStill, ...instance }: NewInstance,
): void {
  state.instances.set(instance.id, {
    ...instance,
    startedAt: now,
    renewedAt: now,
    expiresAt: now + leaseMs,
    ended: null,
    endedAt: null,
  })
  state.membersVersion += 1
  takeCrashesBack(state, now, instance.id, stoodStill)
}

export function renew(state: OracleState, now: number, request: HeartbeatRequest): Heartbeat {
  const instance = state.instances.get(request.instance)
  const alive = instance !== undefined && instance.ended === null
  const isWritten =
    alive && (instanceState(now, instance) === 'expired' || now - instance.renewedAt >= request.renewEveryMs)
  if (isWritten) {
    instance.renewedAt = now
    instance.expiresAt = now + request.leaseMs
  }
  const leads = alive ? leadDuties(state, now, request, isWritten) : []
  const queues = request.queues.map((queue) => ({ queue, room: 1 }))
  const asked = { queues, kinds: request.kinds, limit: 1 }
  return {
    alive,
    cancels: runningUnder(state, request.instance).flatMap(({ job, run }) =>
      run.cancelReason === null ? [] : [{ id: job.id, token: run.token, reason: run.cancelReason }],
    ),
    settingsVersion: state.settingsVersion,
    membersVersion: state.membersVersion,
    leads,
    slots: readSlots(state).flatMap(({ instance, queue, workers }) =>
      instance === request.instance ? [{ queue, workers }] : [],
    ),
    ready: claimable(state, now, { ...asked, quarantined: 'skip' }).length > 0,
    quarantined: claimable(state, now, { ...asked, quarantined: 'only' }).length > 0,
    stageInMs: stageInMs(state, now),
    budgetInMs: budgetInMs(state, now, asked),
    scheduleInMs: scheduleInMs(state, now),
    expired: [...state.instances.values()].some((one) => instanceState(now, one) === 'expired'),
    unrolled: state.openDeltas.length > 0,
  }
}

/** Marks an instance as ended. Its duties, slots and permits outside of jobs are released at once. */
export function endInstance(
  state: OracleState,
  now: number,
  instance: OracleInstance,
  ended: 'lost' | 'stopped',
): void {
  instance.ended = ended
  instance.endedAt = now
  releaseDuties(state, instance.id)
  dropSlots(state, instance.id)
  dropPermits(state, (_, permit) => permit.instance === instance.id)
  state.membersVersion += 1
}

export function deregister(state: OracleState, now: number, id: string): number {
  const instance = state.instances.get(id)
  if (instance === undefined) return 0
  if (instance.ended !== null) {
    takeCrashesBack(state, now, id)
    return 0
  }
  endInstance(state, now, instance, 'stopped')
  const jobs = runningUnder(state, id)
  for (const { job, run } of jobs) {
    if (run.cancelReason !== null) {
      // The job ended, so there must be a record of its outcome.
      record(now, job, run, { outcome: 'cancelled', error: run.cancelReason, wentTo: null })
    }
    refund(job)
    if (run.cancelReason === null) putBack(state, job)
    else end(state, now, job, 'cancelled')
  }
  return jobs.length
}
