/**
 * What a verb moves from state to state, added up and written to the count rows once, in its own transaction:
 * counts are exact at any moment and never need a scan.
 */
import type { Sql } from './handle.ts'

const READY = 1

// By primary key. `rung` is what waiting processes compare to learn that the queue got something to do.
const ADD = `
  INSERT INTO jobmill_count (queue_id, state, n, rung) VALUES (?, ?, ?, ?)
  ON CONFLICT (queue_id, state) DO UPDATE SET n = n + excluded.n, rung = rung + excluded.rung`

export interface Moves {
  /** One job of this queue, or `n`; null for a job that begins or ends to exist. */
  move(queueId: number, from: number | null, to: number | null, n?: number): void
  /** The queue has something to do now: a ready job, or a line whose first job may have its turn. */
  ring(queueId: number): void
  /** Writes the sums; returns the queues that were rung. */
  write(sql: Sql): ReadonlySet<number>
}

export function createMoves(): Moves {
  const sums = new Map<number, number[]>()
  const rung = new Set<number>()
  const add = (queueId: number, state: number, n: number): void => {
    let row = sums.get(queueId)
    if (row === undefined) sums.set(queueId, (row = [0, 0, 0, 0, 0, 0]))
    row[state] = (row[state] ?? 0) + n
  }
  return {
    move(queueId, from, to, n = 1) {
      if (from !== null) add(queueId, from, -n)
      if (to !== null) add(queueId, to, n)
      if (to === READY && from !== READY) rung.add(queueId)
    },
    ring(queueId) {
      rung.add(queueId)
      add(queueId, READY, 0)
    },
    write(sql) {
      const statement = sql(ADD)
      for (const [queueId, row] of sums) {
        for (const [state, n] of row.entries()) {
          const bell = state === READY && rung.has(queueId) ? 1 : 0
          if (n !== 0 || bell !== 0) statement.run(queueId, state, n, bell)
        }
      }
      return rung
    },
  }
}
