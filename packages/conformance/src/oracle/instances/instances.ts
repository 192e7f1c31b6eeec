/**
 * register, renew, deregister and reap: which instances are alive, and what happens to the jobs of one that
 * stops or is lost.
 */
import {
  crashRun,
  type Death,
  type FullStore,
  type Heartbeat,
  type HeartbeatRequest,
  instanceRecord,
  type InstanceRecord,
  type InstanceRequest,
  type InstanceRow,
  instanceState,
  instanceUnknown,
  leadDuties,
  type NewInstance,
  newInstanceRow,
  onDeadJob,
  parseKind,
  type Reaped,
  releaseDuties,
  renewRow,
  requestRow,
  returnRun,
  revertCrash,
  type RunRow,
} from 'jobmill/store'
import { budgetInMs, claimable } from '../jobs/claim.ts'
import { enqueue } from '../jobs/enqueue.ts'
import { end, putBack } from '../jobs/moves.ts'
import { retry, wasCancelled } from '../jobs/operate.ts'
import { stageInMs } from '../jobs/stage.ts'
import { dropPermits } from '../limits.ts'
import { scheduleInMs } from '../schedules.ts'
import type { OracleJob, OracleState } from '../state.ts'
import { runningUnder } from './liveness.ts'
import { dropSlots } from './slots.ts'

export function register(state: OracleState, given: NewInstance): void {
  const { id, kinds, onCancelled, stoodStill } = given
  const known = state.instances.get(id)
  if (known === undefined) followCancels(state, { kinds, ...(onCancelled && { onCancelled }) })
  state.instances.set(id, newInstanceRow(given, known, state.now))
  state.membersVersion += 1
  takeCrashesBack(state, id, stoodStill)
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
  const isRenewed = alive && renewRow(instance, request, state.now)
  const leads =
    alive && instance.requested !== 'stop' ? leadDuties(state.duties, request, isRenewed, state.now) : []
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
    slots: state.slots.flatMap(({ instance, queue, workers }) =>
      instance === request.instance ? [{ queue, workers }] : [],
    ),
    ready: claimable(state, { ...asked, quarantined: 'skip' }).length > 0,
    quarantined: claimable(state, { ...asked, quarantined: 'only' }).length > 0,
    stageInMs: stageInMs(state),
    budgetInMs: budgetInMs(state, asked),
    scheduleInMs: scheduleInMs(state),
    expired: [...state.instances.values()].some((one) => instanceState(one, state.now) === 'expired'),
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
  if (requestRow(instance, requested, by, state.now)) state.membersVersion += 1
  if (requested === 'stop') releaseDuties(state.duties, id)
  return instanceRecord(instance, state.now)
}

/** Marks an instance as ended. Its duties, slots and permits outside of jobs are released at once. */
function endInstance(state: OracleState, instance: InstanceRow, ended: 'lost' | 'stopped'): void {
  instance.ended = ended
  instance.endedAt = state.now
  releaseDuties(state.duties, instance.id)
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
    if (returnRun(job, run, state.now) === 'ready') putBack(state, job)
    else {
      end(state, job, 'cancelled', run.cancelReason)
      wasCancelled(state, job, run.cancelReason ?? '')
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
    .filter((instance) => instanceState(instance, state.now) === 'expired')
    .toSorted((a, b) => a.expiresAt - b.expiresAt)
    .slice(0, limit)
  const jobs = expired.flatMap((instance) => {
    endInstance(state, instance, 'lost')
    return runningUnder(state, instance.id).map(({ job, run }) => {
      const { error, ...reaped } = takeBack(state, job, run, crashesUntilDead)
      if (reaped.state === 'dead' && instance.onDead.includes(reaped.kind))
        deaths.push({ ...reaped, orderKey: job.orderKey, error, at: state.now })
      return reaped
    })
  })
  const inOrder = deaths.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  enqueue(state, inOrder.map(onDeadJob))
  return { instances: expired.map(({ id }) => id), jobs }
}

function takeBack(
  state: OracleState,
  job: OracleJob,
  run: RunRow,
  crashesUntilDead: number,
): ReturnType<typeof crashRun> {
  const reaped = crashRun(job, run, crashesUntilDead, state.now)
  const { state: to, error } = reaped
  if (to !== 'cancelled') {
    const lost = state.lostJobs.get(run.instance) ?? []
    state.lostJobs.set(run.instance, [...lost, { id: job.id, token: run.token }])
  }
  if (to === 'ready') putBack(state, job)
  else end(state, job, to, error)
  if (to === 'cancelled') wasCancelled(state, job, error)
  return reaped
}

/** Reverts the crash counts of an instance that was reaped although its process is alive. */
function takeCrashesBack(state: OracleState, instance: string, stoodStill = false): void {
  const lost = state.lostJobs.get(instance) ?? []
  state.lostJobs.delete(instance)
  for (const { id, token } of lost.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const job = state.jobs.get(id)
    const revive = (): boolean => retry(state, [id])[0]?.verdict !== 'refused'
    if (job !== undefined) revertCrash(job, token, stoodStill, revive)
  }
}
