/** How many workers each instance runs, for queues with a total for the cluster. */
import type { Slot, SlotChange } from '../../store/types/duty.ts'
import type { Heartbeat } from '../../store/types/instance.ts'
import { aliveInstance } from './liveness.ts'
import type { Look, Work } from '../work.ts'

// Each by primary key.
const FIND = `SELECT workers FROM jobmill_slot WHERE instance_pk = ? AND queue_id = ?`
const SET = `INSERT OR REPLACE INTO jobmill_slot (instance_pk, queue_id, workers) VALUES (?, ?, ?)`
const REMOVE = `DELETE FROM jobmill_slot WHERE instance_pk = ? AND queue_id = ?`
const OF_INSTANCE = `SELECT queue_id, workers FROM jobmill_slot WHERE instance_pk = ?`
const DROP = `DELETE FROM jobmill_slot WHERE instance_pk = ?`

// One row per queue of each live instance: few enough to read them all. They are deleted when the instance
// ends.
const ALL = `
  SELECT s.queue_id, i.id AS instance, s.workers
  FROM jobmill_slot AS s CROSS JOIN jobmill_instance AS i ON i.pk = s.instance_pk`

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
    const known = sql(FIND).get(instancePk, queueId) as { workers: number } | undefined
    return (known?.workers ?? null) === workers ? [] : [{ instancePk, queueId, workers }]
  })
}

/** One after the other, because a slot may be duplicated in a call. */
export function assign(work: Work, slots: readonly SlotChange[]): number {
  let written = 0
  for (const slot of slots) {
    for (const { instancePk, queueId, workers } of differing(work, [slot])) {
      if (workers === null) work.sql(REMOVE).run(instancePk, queueId)
      else work.sql(SET).run(instancePk, queueId, workers)
      written += 1
    }
  }
  return written
}

export function dropSlots({ sql }: Work, instancePk: number): void {
  sql(DROP).run(instancePk)
}

export function slotsOf({ sql, names }: Look, instancePk: number): Heartbeat['slots'] {
  const rows = sql(OF_INSTANCE).all(instancePk) as { queue_id: number; workers: number }[]
  return rows
    .map(({ queue_id: id, workers }) => ({ queue: names.queueName(id), workers }))
    .toSorted((a, b) => (a.queue < b.queue ? -1 : 1))
}

export function slots({ sql, names }: Look): Slot[] {
  const rows = sql(ALL).all() as { queue_id: number; instance: string; workers: number }[]
  return rows
    .map(({ queue_id: id, instance, workers }) => ({ instance, queue: names.queueName(id), workers }))
    .toSorted((a, b) =>
      a.queue === b.queue ? (a.instance < b.instance ? -1 : 1) : a.queue < b.queue ? -1 : 1,
    )
}
