/**
 * register, renew, deregister and reap: which instances are alive, and what happens to the jobs of one that
 * stops or is lost.
 */
import {
  crashError,
  type Death,
  type FullStore,
  type Heartbeat,
  type HeartbeatRequest,
  instanceEnded,
  type InstanceRecord,
  type InstanceRequest,
  instanceUnknown,
  KEY_TAKEN,
  type NewInstance,
  NO_CRASH,
  onDeadJob,
  type Reaped,
  type ReapedJob,
  STOOD_STILL,
  parseKind,
} from 'jobmill/store'
import { budgetInMs, claimable } from '../jobs/claim.ts'
import { enqueue } from '../jobs/enqueue.ts'
import { end, putBack, record, refund } from '../jobs/moves.ts'
import { wasCancelled } from '../jobs/operate.ts'
import { retry } from '../jobs/operate.ts'
import { stageInMs } from '../jobs/stage.ts'
import { dropPermits } from '../limits.ts'
import { scheduleInMs } from '../schedules.ts'
import type { OracleInstance, OracleJob, OracleState, Run } from '../state.ts'
import { leadDuties, releaseDuties } from './duties.ts'
import { instanceRecord, instanceState, runningUnder } from './liveness.ts'
import { dropSlots, readSlots } from './slots.ts'

export function register(
  state: OracleState,
  { leaseMs, stoodStill, onCancelled = [], ...instance }: NewInstance,
): void {
  if (!state.instances.has(instance.id)) followCancels(state, { kinds: instance.kinds, onCancelled })
  const { requested = null, requestedBy = null, requestedAt = null } = state.instances.get(instance.id) ?? {}
  state.instances.set(instance.id, {
    ...instance,
    requested,
    requestedBy,
    requestedAt,
    startedAt: state.now,
    renewedAt: state.now,
    expiresAt: state.now + leaseMs,
    ended: null,
    endedAt: null,
  })
  state.membersVersion += 1
  takeCrashesBack(state, instance.id, stoodStill)
}

function followCancels(
  { followed }: OracleState,
  { kinds, onCancelled = [] }: Pick<NewInstance, 'kinds' | 'onCancelled'>,
): void {
  for (const kind of kinds.map((name) => parseKind(name).kind))
    if (onCancelled.includes(kind)) followed.add(kind)
    else followed.delete(kind)
}

export function renew(state: OracleState, request: HeartbeatRequest): Heartbeat {
  const instance = state.instances.get(request.instance)
  const alive = instance !== undefined && instance.ended === null
  const isWritten =
    alive &&
    (instanceState(state, instance) === 'expired' || state.now - instance.renewedAt >= request.renewEveryMs)
  if (isWritten) {
    instance.renewedAt = state.now
    instance.expiresAt = state.now + request.leaseMs
  }
  const leads = alive && instance.requested !== 'stop' ? leadDuties(state, request, isWritten) : []
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
    ready: claimable(state, { ...asked, quarantined: 'skip' }).length > 0,
    quarantined: claimable(state, { ...asked, quarantined: 'only' }).length > 0,
    stageInMs: stageInMs(state),
    budgetInMs: budgetInMs(state, asked),
    scheduleInMs: scheduleInMs(state),
    expired: [...state.instances.values()].some((one) => instanceState(state, one) === 'expired'),
    unrolled: state.openDeltas.length > 0,
    requested: alive ? instance.requested : null,
    requestedBy: alive ? instance.requestedBy : null,
  }
}

/** Stores the request of an operator. An instance that was asked to stop releases its duties. */
export function request(
  state: OracleState,
  id: string,
  requested: InstanceRequest | null,
  by: string,
): InstanceRecord {
  const instance = state.instances.get(id)
  if (instance === undefined) throw instanceUnknown(id)
  if (instance.ended !== null) throw instanceEnded(id, instance.ended)
  if (instance.requested !== requested) {
    if (instance.requested === 'stop') throw instanceEnded(id, 'stopping')
    instance.requested = requested
    instance.requestedBy = requested === null ? null : by
    instance.requestedAt = requested === null ? null : state.now
    if (requested === 'stop') releaseDuties(state, id)
    state.membersVersion += 1
  }
  return instanceRecord(state, instance)
}

/** Marks an instance as ended. Its duties, slots and permits outside of jobs are released at once. */
function endInstance(state: OracleState, instance: OracleInstance, ended: 'lost' | 'stopped'): void {
  instance.ended = ended
  instance.endedAt = state.now
  releaseDuties(state, instance.id)
  dropSlots(state, instance.id)
  dropPermits(state, (_, permit) => permit.instance === instance.id)
  state.membersVersion += 1
}

export function deregister(state: OracleState, id: string): number {
  const instance = state.instances.get(id)
  if (instance === undefined) return 0
  if (instance.ended !== null) {
    takeCrashesBack(state, id)
    return 0
  }
  endInstance(state, instance, 'stopped')
  const jobs = runningUnder(state, id)
  for (const { job, run } of jobs) {
    if (run.cancelReason !== null) {
      // The job ended, so there must be a record of its outcome.
      record(state, job, run, { outcome: 'cancelled', error: run.cancelReason, wentTo: null })
    }
    refund(job)
    if (run.cancelReason === null) putBack(state, job)
    else {
      end(state, job, 'cancelled', run.cancelReason)
      wasCancelled(state, job, run.cancelReason)
    }
  }
  return jobs.length
}

/** No claim can arrive late here, so only expired instances can hold jobs to reclaim. */
export function reap(
  state: OracleState,
  { crashesUntilDead, limit }: Parameters<FullStore['instances']['reap']>[0],
): Reaped {
  const deaths: Death[] = []
  const expired = [...state.instances.values()]
    .filter((instance) => instanceState(state, instance) === 'expired')
    .toSorted((a, b) => a.expiresAt - b.expiresAt)
    .slice(0, limit)
  const jobs = expired.flatMap((instance) => {
    endInstance(state, instance, 'lost')
    return runningUnder(state, instance.id).map(({ job, run }) => {
      const reaped = takeBack(state, job, run, crashesUntilDead)
      if (reaped.state === 'dead' && instance.onDead.includes(reaped.kind))
        deaths.push({ ...reaped, orderKey: job.orderKey, error: crashError(job.crashes), at: state.now })
      return reaped
    })
  })
  const inOrder = deaths.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  enqueue(state, inOrder.map(onDeadJob))
  return { instances: expired.map(({ id }) => id), jobs }
}

function takeBack(state: OracleState, job: OracleJob, run: Run, crashesUntilDead: number): ReapedJob {
  job.crashes += 1
  const error = run.cancelReason ?? crashError(job.crashes)
  record(state, job, run, { outcome: 'interrupted', error, wentTo: null })
  refund(job)
  const to = run.cancelReason !== null ? 'cancelled' : job.crashes >= crashesUntilDead ? 'dead' : 'ready'
  if (to !== 'cancelled') {
    const lost = state.lostJobs.get(run.instance) ?? []
    state.lostJobs.set(run.instance, [...lost, { id: job.id, token: run.token }])
  }
  if (to === 'ready') putBack(state, job)
  else end(state, job, to, error)
  if (to === 'cancelled') wasCancelled(state, job, error)
  return { id: job.id, queue: job.queue, kind: parseKind(job.kind).kind, crashes: job.crashes, state: to }
}

/** Reverts the crash counts of an instance that was reaped although its process is alive. */
function takeCrashesBack(state: OracleState, instance: string, stoodStill = false): void {
  const lost = state.lostJobs.get(instance) ?? []
  state.lostJobs.delete(instance)
  for (const { id, token } of lost.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const job = state.jobs.get(id)
    if (job === undefined) continue
    if (stoodStill) {
      changeError(job, token, (error) => `${error ?? ''}${STOOD_STILL}`)
      continue
    }
    const last = job.attempts.at(-1)
    const diedOfCrash = job.state === 'dead' && last?.outcome === 'interrupted' && last.wentTo === null
    job.crashes = Math.max(0, job.crashes - 1)
    changeError(job, token, () => NO_CRASH)
    if (!diedOfCrash || retry(state, [id])[0]?.verdict !== 'refused') continue
    changeError(job, last.token, (error) => `${(error ?? '').replace(KEY_TAKEN, '')}${KEY_TAKEN}`)
  }
}

function changeError(job: OracleJob, token: number, error: (before: string | null) => string): void {
  job.attempts = job.attempts.map((one) => (one.token === token ? { ...one, error: error(one.error) } : one))
}
