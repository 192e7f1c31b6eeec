/**
 * Leadership: one lease per duty, acquired and renewed under the write lock, so that each duty has at most
 * one leader. And slots: how many workers each instance runs, for queues with a total for the cluster.
 */
import type { DutyBid, DutyRecord, Slot, SlotChange } from '../../store/types/duty.ts'
import type { Heartbeat, HeartbeatRequest } from '../../store/types/instance.ts'
import { aliveInstance } from './liveness.ts'
import type { Look, Work } from '../work.ts'

// There are only a few rows, one per duty, so no index is needed.
const ALL = `
  SELECT d.name, iif(d.expires_at > ?, i.id, NULL) AS leader, iif(d.expires_at > ?, d.expires_at, NULL) AS expiresAt,
    d.last_success_at AS lastSuccessAt, d.failures
  FROM jobmill_duty AS d LEFT JOIN jobmill_instance AS i ON i.pk = d.instance_pk ORDER BY d.name`
const LEASES = `SELECT name, instance_pk AS pk FROM jobmill_duty WHERE instance_pk IS NOT NULL AND expires_at > ?`
const LET_GO = `UPDATE jobmill_duty SET instance_pk = NULL, expires_at = NULL WHERE instance_pk = ?`

// Uses the primary key. A leader without a success of its own keeps the recorded one.
const LEAD = `
  INSERT INTO jobmill_duty (name, instance_pk, expires_at, last_success_at, failures) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET instance_pk = excluded.instance_pk, expires_at = excluded.expires_at,
    last_success_at = coalesce(excluded.last_success_at, last_success_at), failures = excluded.failures`

/** The leader of each duty by name, without expired leases. */
export type Leaders = ReadonlyMap<string, number>

/** Empty without bids. */
export function leadersOf({ sql, now }: Look, bids: readonly DutyBid[]): Leaders {
  const leases = bids.length === 0 ? [] : (sql(LEASES).all(now) as { name: string; pk: number }[])
  return new Map(leases.map(({ name, pk }) => [name, pk]))
}

/** Acquires vacant duties; with `isRenewed`, also renews its own. The instance must be alive. */
export function leadDuties(work: Work, instancePk: number, by: HeartbeatRequest, isRenewed: boolean): void {
  const { sql, now } = work
  const leaders = leadersOf(work, by.duties)
  for (const { name, succeededAgoMs, failures } of by.duties) {
    const leader = leaders.get(name)
    if (leader !== undefined && (leader !== instancePk || !isRenewed)) continue
    const succeededAt = succeededAgoMs === null ? null : now - succeededAgoMs
    sql(LEAD).run(name, instancePk, now + by.leaseMs, succeededAt, failures)
  }
}

/** The duties among its bids that it leads, sorted by name. */
export function ledBy(leaders: Leaders, instancePk: number, bids: readonly DutyBid[]): string[] {
  const names = new Set(bids.map(({ name }) => name))
  return [...names].filter((name) => leaders.get(name) === instancePk).toSorted()
}

/** The last success stays recorded. */
export function letGo({ sql }: Work, instancePk: number): void {
  sql(LET_GO).run(instancePk)
}

export function duties({ sql, now }: Look): DutyRecord[] {
  return sql(ALL).all(now, now) as DutyRecord[]
}

// Each uses the primary key.
const FIND_SLOT = `SELECT workers FROM jobmill_slot WHERE instance_pk = ? AND queue_id = ?`
const SET_SLOT = `INSERT OR REPLACE INTO jobmill_slot (instance_pk, queue_id, workers) VALUES (?, ?, ?)`
const REMOVE_SLOT = `DELETE FROM jobmill_slot WHERE instance_pk = ? AND queue_id = ?`
const SLOTS_OF = `
  SELECT q.name AS queue, s.workers FROM jobmill_slot AS s CROSS JOIN jobmill_queue AS q ON q.id = s.queue_id
  WHERE s.instance_pk = ?`
const DROP_SLOTS = `DELETE FROM jobmill_slot WHERE instance_pk = ?`

// Reads all rows: one per queue of each live instance. They are deleted when the instance ends.
const ALL_SLOTS = `
  SELECT i.id AS instance, q.name AS queue, s.workers
  FROM jobmill_slot AS s CROSS JOIN jobmill_instance AS i ON i.pk = s.instance_pk
    CROSS JOIN jobmill_queue AS q ON q.id = s.queue_id`

interface Change {
  readonly instancePk: number
  readonly queueId: number
  readonly workers: number | null
}

/** The changes to write, for existing queues and live instances. */
export function differing(look: Look, slots: readonly SlotChange[]): Change[] {
  const { sql, names } = look
  return slots.flatMap(({ instance, queue, workers }) => {
    const queueId = names.findQueue(queue)
    const instancePk = aliveInstance(look, instance)
    if (queueId === undefined || instancePk === undefined) return []
    const known = sql(FIND_SLOT).get(instancePk, queueId) as { workers: number } | undefined
    return (known?.workers ?? null) === workers ? [] : [{ instancePk, queueId, workers }]
  })
}

/** One after the other, because a slot may be duplicated in a call. */
export function assign(work: Work, slots: readonly SlotChange[]): number {
  let written = 0
  for (const slot of slots) {
    for (const { instancePk, queueId, workers } of differing(work, [slot])) {
      if (workers === null) work.sql(REMOVE_SLOT).run(instancePk, queueId)
      else work.sql(SET_SLOT).run(instancePk, queueId, workers)
      written += 1
    }
  }
  return written
}

export function dropSlots({ sql }: Work, instancePk: number): void {
  sql(DROP_SLOTS).run(instancePk)
}

export function slotsOf({ sql }: Look, instancePk: number): Heartbeat['slots'] {
  const rows = sql(SLOTS_OF).all(instancePk) as Omit<Slot, 'instance'>[]
  return rows.toSorted((a, b) => (a.queue < b.queue ? -1 : 1))
}

export function slots({ sql }: Look): Slot[] {
  return (sql(ALL_SLOTS).all() as Slot[]).toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
}

/** Names have no spaces, and a space sorts before every other character of a name. */
function placeOf({ queue, instance }: Slot): string {
  return `${queue} ${instance}`
}
