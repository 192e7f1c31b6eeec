/**
 * Sums up the state changes of an operation, and writes the sums to the counter rows once, in the same
 * transaction. So counts are always exact and never need a scan.
 */
import type { Sql } from './handle.ts'

const READY = 1

// Uses the primary key. Waiting processes compare `wake_ups` and `arrived` to learn that a queue got work.
const ADD = `
  INSERT INTO jobmill_count (queue_id, state, n, wake_ups) VALUES (?, ?, ?, 0)
  ON CONFLICT (queue_id, state) DO UPDATE SET n = n + excluded.n`
const NOTIFY = `
  INSERT INTO jobmill_count (queue_id, state, n, wake_ups, arrived) VALUES (?, ${READY}, ?, 1, ?)
  ON CONFLICT (queue_id, state) DO UPDATE SET n = n + excluded.n, wake_ups = wake_ups + 1, arrived = arrived + excluded.arrived
  RETURNING n, wake_ups AS wakeUps, arrived, EXISTS (SELECT 1 FROM jobmill_order_due AS line WHERE line.queue_id = ?) AS lines`

/** A notification as stored in its counter row, so that all processes read the same. */
export interface NotificationRow {
  /** Ready jobs of the queue. */
  readonly n: number
  readonly wakeUps: number
  /** How many jobs ever became ready. */
  readonly arrived: number
  /** 1: an order queue of this queue waits for `stage`. */
  readonly lines: number
}

export type Moves = ReturnType<typeof createMoves>

export function createMoves() {
  const sums = new Map<number, number[]>()
  const arrived = new Map<number, number>()
  const add = (queueId: number, state: number, n: number): void => {
    let row = sums.get(queueId)
    if (row === undefined) sums.set(queueId, (row = [0, 0, 0, 0, 0, 0]))
    row[state] = (row[state] ?? 0) + n
  }
  return {
    /** Moves one job of this queue, or `n`; null for a job that is inserted or deleted. */
    move(queueId: number, from: number | null, to: number | null, n = 1): void {
      if (from !== null) add(queueId, from, -n)
      if (to !== null) add(queueId, to, n)
      if (to === READY && from !== READY) arrived.set(queueId, (arrived.get(queueId) ?? 0) + n)
    },
    /** Reports that the queue has work: a ready job, or an order queue whose lock is free. */
    notify(queueId: number): void {
      arrived.set(queueId, arrived.get(queueId) ?? 0)
      add(queueId, READY, 0)
    },
    /** Changes to this state that are not in the counter row yet. */
    unwritten: (queueId: number, state: number): number => sums.get(queueId)?.[state] ?? 0,
    /** Writes the sums; returns the notifications of queues that got work. */
    write(sql: Sql): ReadonlyMap<number, NotificationRow> {
      const notifications = new Map<number, NotificationRow>()
      for (const [queueId, row] of sums) {
        for (const [state, n] of row.entries()) {
          const jobs = state === READY ? arrived.get(queueId) : undefined
          if (jobs !== undefined)
            notifications.set(queueId, sql(NOTIFY).get(queueId, n, jobs, queueId) as NotificationRow)
          else if (n !== 0) sql(ADD).run(queueId, state, n)
        }
      }
      return notifications
    },
  }
}
