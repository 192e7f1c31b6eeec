/**
 * What a verb moves from state to state, added up and written to the count rows once, in its own transaction:
 * counts are exact at any moment and never need a scan.
 */
import type { Sql } from './handle.ts'

const READY = 1

// By primary key. `rung` and `arrived` are what waiting processes compare to learn that the queue got something to do.
const ADD = `
  INSERT INTO jobmill_count (queue_id, state, n, wake_ups) VALUES (?, ?, ?, 0)
  ON CONFLICT (queue_id, state) DO UPDATE SET n = n + excluded.n`
const NOTIFY = `
  INSERT INTO jobmill_count (queue_id, state, n, wake_ups, arrived) VALUES (?, ${READY}, ?, 1, ?)
  ON CONFLICT (queue_id, state) DO UPDATE SET n = n + excluded.n, wake_ups = wake_ups + 1, arrived = arrived + excluded.arrived
  RETURNING n, wake_ups AS wakeUps, arrived, EXISTS (SELECT 1 FROM jobmill_order_due AS line WHERE line.queue_id = ?) AS lines`

/** A bell as its count row has it, so that every process that hears it hears the same. */
export interface NotificationRow {
  /** Ready jobs of the queue. */
  readonly n: number
  readonly wakeUps: number
  /** How many ever became ready. */
  readonly arrived: number
  /** 1: a line of the queue waits for `stage`. */
  readonly lines: number
}

export interface Moves {
  /** One job of this queue, or `n`; null for a job that begins or ends to exist. */
  move(queueId: number, from: number | null, to: number | null, n?: number): void
  /** The queue has something to do now: a ready job, or a line whose first job may have its turn. */
  notify(queueId: number): void
  /** What was moved to this state and is not in the count row yet. */
  readonly unwritten: (queueId: number, state: number) => number
  /** Writes the sums; returns the bells of the queues that were rung. */
  write(sql: Sql): ReadonlyMap<number, NotificationRow>
}

export function createMoves(): Moves {
  const sums = new Map<number, number[]>()
  const arrived = new Map<number, number>()
  const add = (queueId: number, state: number, n: number): void => {
    let row = sums.get(queueId)
    if (row === undefined) sums.set(queueId, (row = [0, 0, 0, 0, 0, 0]))
    row[state] = (row[state] ?? 0) + n
  }
  return {
    move(queueId, from, to, n = 1) {
      if (from !== null) add(queueId, from, -n)
      if (to !== null) add(queueId, to, n)
      if (to === READY && from !== READY) arrived.set(queueId, (arrived.get(queueId) ?? 0) + n)
    },
    notify(queueId) {
      arrived.set(queueId, arrived.get(queueId) ?? 0)
      add(queueId, READY, 0)
    },
    unwritten: (queueId, state) => sums.get(queueId)?.[state] ?? 0,
    write(sql) {
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
