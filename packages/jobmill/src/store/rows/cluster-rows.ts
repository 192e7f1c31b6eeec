/** The rows of queues, instances, duties and slots, and what the verbs change in them. */
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../job/queue/queue-settings.ts'
import { effectiveQueue, isSameQueue, type QueueSources, UNDECLARED } from '../../job/queue/queue-sources.ts'
import { instanceEnded } from '../cluster-errors.ts'
import type { DutyRecord, Slot, SlotChange } from '../types/duty.ts'
import type { CoolDown } from '../types/finish.ts'
import type { HeartbeatRequest, InstanceRecord, InstanceRequest, NewInstance } from '../types/instance.ts'
import type { QueueRecord } from '../types/queue-record.ts'

export interface QueueRow {
  settings: QueueSettings
  sources: QueueSources
  coolUntil: number
  throttles: number
}

export function newQueueRow(): QueueRow {
  return { settings: { ...DEFAULT_QUEUE_SETTINGS }, sources: UNDECLARED, coolUntil: 0, throttles: 0 }
}

/** Returns whether the effective settings changed. */
export function writeSources(row: QueueRow, sources: QueueSources): boolean {
  const before = row.settings
  Object.assign(row, { settings: effectiveQueue(sources), sources })
  return !isSameQueue(before, row.settings)
}

export function queueRecord(name: string, row: QueueRow, now: number): QueueRecord {
  const { settings, coolUntil, throttles } = row
  return { name, ...settings, coolingMs: Math.max(0, coolUntil - now), throttles }
}

/** `curved` are the queues whose curve this call has already applied: one call counts once. */
export function coolDown(row: QueueRow, how: CoolDown, curved: Set<object>, now: number): void {
  if ('forMs' in how) {
    row.coolUntil = Math.max(row.coolUntil, now + how.forMs)
    return
  }
  const isCounted = !curved.has(row) && row.coolUntil <= now
  curved.add(row)
  if (!isCounted) return
  // The quiet period starts when the cool-down ends, because throttles during the cool-down are not counted.
  if (now - row.coolUntil >= how.quietMs) row.throttles = 0
  row.coolUntil = now + Math.min(how.maxMs, how.baseMs * 2 ** row.throttles)
  row.throttles += 1
}

type Changing = 'renewedAt' | 'expiresAt' | 'endedAt' | 'requested' | 'requestedBy' | 'requestedAt'

export type InstanceRow = Omit<InstanceRecord, 'state' | Changing> & {
  -readonly [Key in Changing]: InstanceRecord[Key]
} & { ended: 'lost' | 'stopped' | null }

/** `known` is the row that the instance had before, whose request of an operator remains. */
export function newInstanceRow(given: NewInstance, known: InstanceRow | undefined, now: number): InstanceRow {
  const { leaseMs, stoodStill: _, onCancelled: __, ...instance } = given
  const { requested = null, requestedBy = null, requestedAt = null } = known ?? {}
  const times = { startedAt: now, renewedAt: now, expiresAt: now + leaseMs, endedAt: null }
  return { ...instance, ...times, requested, requestedBy, requestedAt, ended: null }
}

export function instanceState({ ended, expiresAt }: InstanceRow, now: number): InstanceRecord['state'] {
  return ended ?? (expiresAt <= now ? 'expired' : 'alive')
}

export function instanceRecord(row: InstanceRow, now: number): InstanceRecord {
  const { ended: _, ...record } = row
  return { ...record, state: instanceState(row, now) }
}

/** Returns whether the heartbeat renewed the lease. */
export function renewRow(
  row: InstanceRow,
  { leaseMs, renewEveryMs }: HeartbeatRequest,
  now: number,
): boolean {
  const isDue = row.expiresAt <= now || now - row.renewedAt >= renewEveryMs
  if (row.ended !== null || !isDue) return false
  Object.assign(row, { renewedAt: now, expiresAt: now + leaseMs })
  return true
}

/** Stores the request of an operator. Returns false if there is nothing to write. */
export function requestRow(
  row: InstanceRow,
  requested: InstanceRequest | null,
  by: string,
  now: number,
): boolean {
  if (row.ended !== null) throw instanceEnded(row.id, row.ended)
  if (row.requested === requested) return false
  if (row.requested === 'stop') throw instanceEnded(row.id, 'stopping')
  const isNone = requested === null
  Object.assign(row, { requested, requestedBy: isNone ? null : by, requestedAt: isNone ? null : now })
  return true
}

type Duties = Map<string, DutyRecord>

/**
 * Takes duties without a leader, and renews the own duties of the instance if this heartbeat renewed its
 * lease. Returns the duties that it leads now.
 */
export function leadDuties(
  duties: Duties,
  request: HeartbeatRequest,
  isRenewed: boolean,
  now: number,
): readonly string[] {
  const { instance, leaseMs } = request
  const leaderOf = (name: string): string | null => readDuty(duties, name, now).leader
  for (const { name, succeededAgoMs, failures } of request.duties) {
    const { leader, lastSuccessAt: before } = readDuty(duties, name, now)
    if (leader !== null && (leader !== instance || !isRenewed)) continue
    // A leader without a success keeps the previous value.
    const lastSuccessAt = succeededAgoMs === null ? before : now - succeededAgoMs
    duties.set(name, { name, leader: instance, expiresAt: now + leaseMs, lastSuccessAt, failures })
  }
  const names = new Set(request.duties.map(({ name }) => name))
  return [...names].filter((name) => leaderOf(name) === instance).toSorted()
}

/** A duty whose lease is over has no leader. */
function readDuty(duties: Duties, name: string, now: number): DutyRecord {
  const vacant = { leader: null, expiresAt: null }
  const duty = duties.get(name) ?? { name, ...vacant, lastSuccessAt: null, failures: 0 }
  return (duty.expiresAt ?? 0) > now ? { ...duty } : { ...duty, ...vacant }
}

export function readDuties(duties: Duties, now: number): DutyRecord[] {
  return [...duties.keys()].toSorted().map((name) => readDuty(duties, name, now))
}

export function releaseDuties(duties: Duties, instance: string): void {
  for (const [name, duty] of duties)
    if (duty.leader === instance) duties.set(name, { ...duty, leader: null, expiresAt: null })
}

const placeOf = ({ queue, instance }: Slot): string => `${queue} ${instance}`

/** The slots after one change, sorted by queue and instance. The same array if there is nothing to write. */
export function changeSlots(
  slots: readonly Slot[],
  { instance, queue, workers }: SlotChange,
): readonly Slot[] {
  const known = slots.find((slot) => slot.instance === instance && slot.queue === queue)
  if ((known?.workers ?? null) === workers) return slots
  const others = slots.filter((slot) => slot !== known)
  const changed = workers === null ? others : [...others, { instance, queue, workers }]
  return changed.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
}
