/**
 * Queues that draw on a limit. Which they are, and what their limits have, is told by the statements that ask about queues anyway: `LIMITED` is a
 * column of their answer. A database without such queues pays for it with a look at a table of few rows.
 */
import { available, nextInMs } from '../job/budget.ts'
import { DEFAULTS } from '../job/defaults.ts'
import type { Row } from './connection.ts'
import { listOf } from './context.ts'
import { HELD, LIMIT_COLUMNS, limitOf, type LimitRow } from './limit-rows.ts'

/** The numbers of the kinds in the parameter. */
export const KIND_IDS = `ARRAY(SELECT k.id FROM given, json_array_elements_text(p -> 'kinds') AS v(name),
                                         jobmill.kind AS k WHERE k.name = v.name)`

/** The first job of the queue `o` that a claim would take, by the index that the claim walks. */
export const firstReady = (crashes: '<' | '>='): string => `
    SELECT true AS found FROM jobmill.ready AS r WHERE r.queue_id = o.queue_id AND r.crashes ${crashes} ${DEFAULTS.crashesUntilAlone}
       AND r.kind_id = ANY (${KIND_IDS})
     ORDER BY r.priority, r.seq LIMIT 1`

/** Of `open(queue_id, name, limit_name)`: the queues that draw on a limit and have a job ready. JSON text, null for none. */
export const LIMITED = `(SELECT json_agg(x) FROM (
  SELECT o.name AS queue, ${LIMIT_COLUMNS}, ${HELD} AS held, a.found IS TRUE AS ready, b.found IS TRUE AS suspect
    FROM open AS o JOIN jobmill.limit AS l ON l.name = o.limit_name
    LEFT JOIN LATERAL (${firstReady('<')}) AS a ON true
    LEFT JOIN LATERAL (${firstReady('>=')}) AS b ON true
   WHERE a.found OR b.found) AS x)`

/** As it was at the moment of looking: to know whether it is worth a lock. */
export interface LimitedQueue {
  readonly queue: string
  readonly limit: LimitRow
  readonly available: number
  readonly nextInMs: number | null
  readonly ready: boolean
  readonly suspect: boolean
}

export function limitedQueues(told: unknown, now: number): LimitedQueue[] {
  return listOf<Row>(told).map((row) => {
    const limit = limitOf(row)
    const at = { now, held: row['held'] as number }
    return {
      queue: row['queue'] as string,
      limit,
      available: available(limit.settings, limit.state, at),
      nextInMs: nextInMs(limit.settings, limit.state, at),
      ready: row['ready'] as boolean,
      suspect: row['suspect'] as boolean,
    }
  })
}
