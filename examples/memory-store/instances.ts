// The processes that run jobs: their leases, the duties that they lead, and what happens when one is gone.
import {
  crashError,
  type Death,
  type DutyBid,
  type DutyRecord,
  type Heartbeat,
  type HeartbeatRequest,
  type Held,
  instanceEnded,
  type InstanceRecord,
  type InstanceRequest,
  instanceUnknown,
  KEY_TAKEN,
  type NewInstance,
  NO_CRASH,
  onDeadJob,
  type Reaped,
  type Slot,
  type SlotChange,
  STOOD_STILL,
  type VersionRecord,
} from 'jobmill/store'
import { byId, byName, type Database, type Instance, isAlive, runsOf, stateOf } from './database.ts'
import { claimable, enqueue, retry } from './jobs.ts'
import { end, heads, putBack, record, refund } from './moves.ts'

export function register(db: Database, now: number, given: NewInstance): void {
  const { leaseMs, stoodStill = false, ...instance } = given
  revertCrashes(db, now, instance.id, stoodStill)
  const times = { startedAt: now, renewedAt: now, expiresAt: now + leaseMs }
  const { requested = null, requestedBy = null, requestedAt = null } = db.instances.get(instance.id) ?? {}
  const request = { requested, requestedBy, requestedAt }
  db.instances.set(instance.id, { ...instance, ...times, ...request, ended: null, endedAt: null, lost: [] })
  db.membersVersion += 1
}

export function renew(db: Database, now: number, request: HeartbeatRequest): Heartbeat {
  const { instance: id, leaseMs, renewEveryMs, kinds } = request
  const instance = db.instances.get(id)
  const alive = instance !== undefined && instance.ended === null
  const isWritten = alive && (instance.expiresAt <= now || now - instance.renewedAt >= renewEveryMs)
  if (isWritten) Object.assign(instance, { renewedAt: now, expiresAt: now + leaseMs })
  const asked = { queues: request.queues.map((queue) => ({ queue, room: 1 })), kinds, limit: 1 }
  return {
    alive,
    cancels: runsOf(db, id).flatMap(({ job, run: { token, cancelReason: reason } }) =>
      reason === null ? [] : [{ id: job.id, token, reason }],
    ),
    settingsVersion: db.settingsVersion,
    membersVersion: db.membersVersion,
    leads: alive && instance.requested !== 'stop' ? lead(db, now, request, isWritten) : [],
    slots: slots(db).flatMap(({ instance, queue, workers }) => (instance === id ? [{ queue, workers }] : [])),
    ready: claimable(db, now, { ...asked, quarantined: 'skip' }).length > 0,
    quarantined: claimable(db, now, { ...asked, quarantined: 'only' }).length > 0,
    stageInMs: stageInMs(db, now),
    expired: [...db.instances.values()].some((one) => stateOf(now, one) === 'expired'),
    // This store has no limits, schedules and metrics.
    budgetInMs: null,
    scheduleInMs: null,
    unrolled: false,
    requested: alive ? instance.requested : null,
    requestedBy: alive ? instance.requestedBy : null,
  }
}

/**
 * Stores the request of an operator. An instance that was asked to stop leads no duty, and its request cannot
 * change.
 */
export function request(
  db: Database,
  now: number,
  id: string,
  requested: InstanceRequest | null,
  by: string,
): InstanceRecord {
  const instance = db.instances.get(id)
  if (instance === undefined) throw instanceUnknown(id)
  if (instance.ended !== null) throw instanceEnded(id, instance.ended)
  if (instance.requested !== requested) {
    if (instance.requested === 'stop') throw instanceEnded(id, 'stopping')
    const isNone = requested === null
    Object.assign(instance, { requested, requestedBy: isNone ? null : by, requestedAt: isNone ? null : now })
    if (requested === 'stop') releaseDuties(db, id)
    db.membersVersion += 1
  }
  return recordOf(now, instance)
}

function releaseDuties(db: Database, instance: string): void {
  for (const [name, duty] of db.duties)
    if (duty.leader === instance) db.duties.set(name, { ...duty, leader: null, expiresAt: null })
}

function stageInMs(db: Database, now: number): number | null {
  if (heads(db).length > 0) return 0
  const waiting = [...db.jobs.values()].filter(({ state, place }) => state === 'scheduled' && place === null)
  return waiting.length === 0 ? null : Math.max(0, Math.min(...waiting.map(({ dueAt }) => dueAt)) - now)
}

export function deregister(db: Database, now: number, id: string): number {
  const instance = db.instances.get(id)
  if (instance === undefined) return 0
  if (instance.ended !== null) {
    revertCrashes(db, now, id)
    return 0
  }
  endInstance(db, now, instance, 'stopped')
  const runs = runsOf(db, id)
  for (const { job, run } of runs) {
    const { cancelReason: error } = run
    if (error !== null) record(now, job, run, { outcome: 'cancelled', error, wentTo: null })
    refund(job)
    if (error === null) putBack(job)
    else end(db, now, job, 'cancelled')
  }
  return runs.length
}

function endInstance(db: Database, now: number, instance: Instance, ended: 'lost' | 'stopped'): void {
  Object.assign(instance, { ended, endedAt: now })
  releaseDuties(db, instance.id)
  db.slots = db.slots.filter((slot) => slot.instance !== instance.id)
  db.membersVersion += 1
}

export function reap(
  db: Database,
  now: number,
  { crashesUntilDead, limit }: { readonly crashesUntilDead: number; readonly limit: number },
): Reaped {
  const deaths: Death[] = []
  const expired = [...db.instances.values()]
    .filter((instance) => stateOf(now, instance) === 'expired')
    .toSorted((a, b) => a.expiresAt - b.expiresAt)
    .slice(0, limit)
  const jobs = expired.flatMap((instance) => {
    endInstance(db, now, instance, 'lost')
    return runsOf(db, instance.id).map(({ job, run }) => {
      job.crashes += 1
      const { id, queue, kind, crashes, orderKey } = job
      const error = run.cancelReason ?? crashError(crashes)
      record(now, job, run, { outcome: 'interrupted', error, wentTo: null })
      refund(job)
      const state = run.cancelReason !== null ? 'cancelled' : crashes >= crashesUntilDead ? 'dead' : 'ready'
      if (state === 'ready') putBack(job)
      else end(db, now, job, state)
      if (state !== 'cancelled') instance.lost = [...instance.lost, { id, token: run.token }]
      const hasCallback = instance.onDead.includes(kind)
      if (state === 'dead' && hasCallback) deaths.push({ id, kind, queue, orderKey, error, at: now })
      return { id, queue, kind, crashes, state } as const
    })
  })
  enqueue(db, now, deaths.toSorted(byId).map(onDeadJob))
  return { instances: expired.map(({ id }) => id), jobs }
}

/** Reverts the crashes of a reaped instance whose process turned out to be alive. */
function revertCrashes(db: Database, now: number, instance: string, stoodStill = false): void {
  const known = db.instances.get(instance)
  for (const { id, token } of known?.lost.toSorted(byId) ?? []) {
    const job = db.jobs.get(id)
    if (job === undefined) continue
    const last = job.attempts.at(-1)
    const isDeadByCrash = job.state === 'dead' && last?.outcome === 'interrupted' && last.wentTo === null
    job.attempts = job.attempts.map((one) =>
      one.token === token ? { ...one, error: stoodStill ? `${one.error}${STOOD_STILL}` : NO_CRASH } : one,
    )
    if (stoodStill) continue
    job.crashes = Math.max(0, job.crashes - 1)
    if (!isDeadByCrash || retry(db, now, [id])[0]?.verdict !== 'refused') continue
    job.attempts = job.attempts.map((one) =>
      one.token === last.token ? { ...one, error: `${one.error?.replace(KEY_TAKEN, '')}${KEY_TAKEN}` } : one,
    )
  }
  if (known !== undefined) known.lost = []
}

/** Takes duties without a leader, and renews the instance's own duties together with its lease. */
function lead(db: Database, now: number, request: HeartbeatRequest, isWritten: boolean): string[] {
  const { instance, leaseMs } = request
  const leaderOf = ({ name }: DutyBid): string | null => dutyOf(db, now, name).leader
  for (const bid of request.duties) {
    const leader = leaderOf(bid)
    if (leader !== null && !(leader === instance && isWritten)) continue
    const { name, succeededAgoMs, failures } = bid
    const { lastSuccessAt: before } = dutyOf(db, now, name)
    const lastSuccessAt = succeededAgoMs === null ? before : now - succeededAgoMs
    db.duties.set(name, { name, leader: instance, expiresAt: now + leaseMs, lastSuccessAt, failures })
  }
  const mine = request.duties.filter((bid) => leaderOf(bid) === instance)
  return [...new Set(mine.map(({ name }) => name))].toSorted()
}

/** A duty whose lease is over has no leader. */
function dutyOf(db: Database, now: number, name: string): DutyRecord {
  const vacant = { leader: null, expiresAt: null }
  const duty = db.duties.get(name) ?? { name, ...vacant, lastSuccessAt: null, failures: 0 }
  return (duty.expiresAt ?? 0) > now ? duty : { ...duty, ...vacant }
}

export const duties = (db: Database, now: number): DutyRecord[] =>
  byName(db.duties).map(([name]) => ({ ...dutyOf(db, now, name) }))

export function assign(db: Database, now: number, changes: readonly SlotChange[]): number {
  return changes.filter(({ instance, queue, workers }) => {
    if (!db.queues.has(queue) || !isAlive(db, now, instance)) return false
    const known = db.slots.find((slot) => slot.instance === instance && slot.queue === queue)
    if ((known?.workers ?? null) === workers) return false
    const others = db.slots.filter((slot) => slot !== known)
    db.slots = workers === null ? others : [...others, { instance, queue, workers }]
    return true
  }).length
}

const placeOf = ({ queue, instance }: Slot): string => `${queue} ${instance}`

export function slots(db: Database): Slot[] {
  return db.slots.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
}

export function instances(db: Database, now: number): InstanceRecord[] {
  return byName(db.instances).map(([, instance]) => recordOf(now, instance))
}

function recordOf(now: number, instance: Instance): InstanceRecord {
  const { ended: _, lost: _lost, ...record } = instance
  return { ...record, state: stateOf(now, instance) }
}

export function versions(db: Database, now: number): VersionRecord[] {
  const known = [...db.instances.values()].flatMap(({ version, startedAt, renewedAt, endedAt, id }) => {
    const alive = isAlive(db, now, id) ? 1 : 0
    const lastAt = alive === 1 ? now : (endedAt ?? renewedAt)
    return version === null ? [] : [{ version, firstAt: startedAt, lastAt, alive }]
  })
  const past = [...db.pastInstances]
    .filter(([id]) => !db.instances.has(id))
    .map(([, { version, startedAt: firstAt, endedAt: lastAt }]) => ({ version, firstAt, lastAt, alive: 0 }))
  return [...Map.groupBy([...known, ...past], ({ version }) => version)]
    .map(([version, instances]) => ({
      version,
      firstAt: Math.min(...instances.map(({ firstAt }) => firstAt)),
      lastAt: Math.max(...instances.map(({ lastAt }) => lastAt)),
      instances: instances.length,
      alive: instances.reduce((sum, { alive }) => sum + alive, 0),
    }))
    .toSorted((a, b) => b.firstAt - a.firstAt || (a.version < b.version ? 1 : -1))
    .slice(0, 100)
}

export function held(db: Database, now: number, instance: string): Held[] {
  return runsOf(db, instance).map(({ job, run }) => ({
    id: job.id,
    token: run.token,
    ageMs: now - run.startedAt,
  }))
}
