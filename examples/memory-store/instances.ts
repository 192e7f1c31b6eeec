// The processes that run jobs: their leases, and what happens to the jobs of one that is gone.
import {
  crashRun,
  type Heartbeat,
  type HeartbeatRequest,
  instanceRecord,
  type InstanceRecord,
  type InstanceRequest,
  instanceState,
  instanceUnknown,
  changeSlots,
  type Death,
  leadDuties,
  type NewInstance,
  newInstanceRow,
  onDeadJob,
  type Reaped,
  releaseDuties,
  renewRow,
  requestRow,
  returnRun,
  revertCrash,
  type SlotChange,
} from 'jobmill/store'
import { byId, type Database, type Instance, runsOf } from './database.ts'
import { claimable, enqueue, retry } from './jobs.ts'
import { end, heads, putBack } from './moves.ts'

export function register(db: Database, given: NewInstance): void {
  const { id, stoodStill } = given
  revertCrashes(db, id, stoodStill)
  db.instances.set(id, { ...newInstanceRow(given, db.instances.get(id), db.now), lost: [] })
  db.membersVersion += 1
}

export function renew(db: Database, request: HeartbeatRequest): Heartbeat {
  const { instance: id, kinds } = request
  const instance = db.instances.get(id)
  const isRenewed = instance !== undefined && renewRow(instance, request, db.now)
  const alive = instance !== undefined && instance.ended === null
  const asked = { queues: request.queues.map((queue) => ({ queue, room: 1 })), kinds, limit: 1 }
  return {
    alive,
    cancels: runsOf(db, id).flatMap(({ job, run: { token, cancelReason: reason } }) =>
      reason === null ? [] : [{ id: job.id, token, reason }],
    ),
    settingsVersion: db.settingsVersion,
    membersVersion: db.membersVersion,
    leads: alive && instance.requested !== 'stop' ? leadDuties(db.duties, request, isRenewed, db.now) : [],
    slots: db.slots.flatMap(({ instance, queue, workers }) => (instance === id ? [{ queue, workers }] : [])),
    ready: claimable(db, { ...asked, quarantined: 'skip' }).length > 0,
    quarantined: claimable(db, { ...asked, quarantined: 'only' }).length > 0,
    stageInMs: stageInMs(db),
    expired: [...db.instances.values()].some((one) => instanceState(one, db.now) === 'expired'),
    // This store has no limits, schedules and metrics.
    budgetInMs: null,
    scheduleInMs: null,
    unrolled: false,
    requested: alive ? instance.requested : null,
    requestedBy: alive ? instance.requestedBy : null,
  }
}

function stageInMs(db: Database): number | null {
  if (heads(db).length > 0) return 0
  const waiting = [...db.jobs.values()].filter(({ state, place }) => state === 'scheduled' && place === null)
  return waiting.length === 0 ? null : Math.max(0, Math.min(...waiting.map(({ dueAt }) => dueAt)) - db.now)
}

export function request(db: Database, id: string, what: InstanceRequest | null, by: string): InstanceRecord {
  const instance = db.instances.get(id)
  if (instance === undefined) throw instanceUnknown(id)
  if (requestRow(instance, what, by, db.now)) db.membersVersion += 1
  if (what === 'stop') releaseDuties(db.duties, id)
  return recordOf(db, instance)
}

export function recordOf(db: Database, { lost: _, ...row }: Instance): InstanceRecord {
  return instanceRecord(row, db.now)
}

export function deregister(db: Database, id: string): number {
  const instance = db.instances.get(id)
  if (instance === undefined) return 0
  if (instance.ended !== null) {
    revertCrashes(db, id)
    return 0
  }
  endInstance(db, instance, 'stopped')
  const runs = runsOf(db, id)
  for (const { job, run } of runs) {
    if (returnRun(job, run, db.now) === 'ready') putBack(job)
    else end(db, job, 'cancelled')
  }
  return runs.length
}

function endInstance(db: Database, instance: Instance, ended: 'lost' | 'stopped'): void {
  Object.assign(instance, { ended, endedAt: db.now })
  releaseDuties(db.duties, instance.id)
  db.slots = db.slots.filter((slot) => slot.instance !== instance.id)
  db.membersVersion += 1
}

export function reap(
  db: Database,
  { crashesUntilDead, limit }: { readonly crashesUntilDead: number; readonly limit: number },
): Reaped {
  const deaths: Death[] = []
  const expired = [...db.instances.values()]
    .filter((instance) => instanceState(instance, db.now) === 'expired')
    .toSorted((a, b) => a.expiresAt - b.expiresAt)
    .slice(0, limit)
  const jobs = expired.flatMap((instance) => {
    endInstance(db, instance, 'lost')
    return runsOf(db, instance.id).map(({ job, run }) => {
      const { error, ...reaped } = crashRun(job, run, crashesUntilDead, db.now)
      const { state, kind } = reaped
      if (state === 'ready') putBack(job)
      else end(db, job, state)
      if (state !== 'cancelled') instance.lost = [...instance.lost, { id: job.id, token: run.token }]
      const hasCallback = state === 'dead' && instance.onDead.includes(kind)
      if (hasCallback) deaths.push({ ...reaped, orderKey: job.orderKey, error, at: db.now })
      return reaped
    })
  })
  enqueue(db, deaths.toSorted(byId).map(onDeadJob))
  return { instances: expired.map(({ id }) => id), jobs }
}

/** Reverts the crashes of a reaped instance whose process turned out to be alive. */
function revertCrashes(db: Database, instance: string, stoodStill = false): void {
  const known = db.instances.get(instance)
  for (const { id, token } of known?.lost.toSorted(byId) ?? []) {
    const job = db.jobs.get(id)
    const revive = (): boolean => retry(db, [id])[0]?.verdict !== 'refused'
    if (job !== undefined) revertCrash(job, token, stoodStill, revive)
  }
  if (known !== undefined) known.lost = []
}

export function assign(db: Database, changes: readonly SlotChange[]): number {
  return changes.filter((change) => {
    const instance = db.instances.get(change.instance)
    const isAlive = instance !== undefined && instanceState(instance, db.now) === 'alive'
    const before = db.slots
    if (isAlive && db.queues.has(change.queue)) db.slots = changeSlots(before, change)
    return db.slots !== before
  }).length
}
