/** Queues with a limit: what a claim or heartbeat returns about them. */
import { available, nextInMs } from '../../job/limit/budget.ts'
import type { Row } from '../connection/connection.ts'
import { limitOf } from '../limits/limit-rows.ts'

/** A snapshot without locks, to decide whether locking the limit is worthwhile. */
export type LimitedQueue = ReturnType<typeof limitedQueues>[number]

/** Converts the result of jobmill.limited. */
export function limitedQueues(rows: readonly Row[], now: number) {
  return rows.map((row) => {
    const limit = limitOf(row)
    const at = { now, held: row['held'] as number }
    return {
      queue: row['queue'] as string,
      limit,
      available: available(limit.settings, limit.state, at),
      nextInMs: nextInMs(limit.settings, limit.state, at),
      ready: row['ready'] as boolean,
      quarantined: row['quarantined'] as boolean,
    }
  })
}
