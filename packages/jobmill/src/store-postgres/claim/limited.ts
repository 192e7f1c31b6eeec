/**
 * Queues with a limit. Statements that read queues anyway also return which queues have a limit and its
 * budget. Planning that part takes as long as planning the rest. A handle therefore requests it only after it
 * has seen such a queue, and until then asks only whether there is one.
 */
import { available, nextInMs } from '../../job/limit/budget.ts'
import { DEFAULTS } from '../../job/defaults.ts'
import type { Row } from '../connection/connection.ts'
import { type Context, listOf, run } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'
import { HELD_PERMITS, LIMIT_COLUMNS, limitOf, type LimitRow } from '../limits/limit-rows.ts'

/** The ids of the kinds in the parameter. */
export const KIND_IDS = `ARRAY(SELECT k.id FROM given, json_array_elements_text(p -> 'kinds') AS v(name),
                                         jobmill.kind AS k WHERE k.name = v.name)`

/** The first job of the queue `o` that a claim would take, read from the index that claims use. */
const firstReady = (crashes: '<' | '>='): string => `
    SELECT true AS found FROM jobmill.ready AS r WHERE r.queue_id = o.queue_id AND r.crashes ${crashes} ${DEFAULTS.crashesUntilAlone}
       AND r.kind_id = ANY (${KIND_IDS})
     ORDER BY r.priority, r.seq LIMIT 1`

/** The queues of `open(queue_id, name, limit_name)` that have a limit and a ready job. JSON text. */
const LIMITED = `(SELECT coalesce(json_agg(x), '[]') FROM (
  SELECT o.name AS queue, ${LIMIT_COLUMNS}, ${HELD_PERMITS} AS held, a.found IS TRUE AS ready, b.found IS TRUE AS quarantined
    FROM open AS o JOIN jobmill.limit AS l ON l.name = o.limit_name AND l.key = ''
    LEFT JOIN LATERAL (${firstReady('<')}) AS a ON true
    LEFT JOIN LATERAL (${firstReady('>=')}) AS b ON true
   WHERE a.found OR b.found) AS x)`

/** Columns for a statement that defines `given` and `open`. */
export const limitedColumns = (context: Context): string =>
  `EXISTS (SELECT FROM open WHERE limit_name IS NOT NULL) AS has_limited${context.met.limited ? `, ${LIMITED} AS limited` : ''}`

/** Used the first time, when the previous statement did not request the limits. */
const LOOK = `
WITH ${GIVEN_CTE}, open AS MATERIALIZED (
  SELECT q.id AS queue_id, q.name, q.limit_name
    FROM given AS g, json_array_elements_text(g.p -> 'queues') AS w(queue), jobmill.queue AS q
   WHERE q.name = w.queue AND NOT q.paused AND q.cool_until <= g.now
)
SELECT g.now, ${LIMITED} AS limited FROM given AS g`

/** A snapshot without locks, to decide whether locking the limit is worthwhile. */
export interface LimitedQueue {
  readonly queue: string
  readonly limit: LimitRow
  readonly available: number
  readonly nextInMs: number | null
  readonly ready: boolean
  readonly quarantined: boolean
}

/** Evaluates the reply of a statement with `limitedColumns` for these queues and kinds. */
export async function limitedQueues(
  context: Context,
  row: Row,
  asked: { readonly queues: readonly string[]; readonly kinds: readonly string[] },
): Promise<LimitedQueue[]> {
  if (row['has_limited'] !== true) return []
  context.met.limited = true
  // Null if the statement did not request it.
  if ((row['limited'] ?? null) !== null) return limitedOf(row)
  const { queues, kinds } = asked
  const fields = JSON.stringify({ queues, kinds }).slice(1, -1)
  const [reply = {}] = await run(context, context.connection.query, LOOK, fields)
  return limitedOf(reply)
}

function limitedOf(row: Row): LimitedQueue[] {
  const now = row['now'] as number
  return listOf<Row>(row['limited']).map((one) => {
    const limit = limitOf(one)
    const at = { now, held: one['held'] as number }
    return {
      queue: one['queue'] as string,
      limit,
      available: available(limit.settings, limit.state, at),
      nextInMs: nextInMs(limit.settings, limit.state, at),
      ready: one['ready'] as boolean,
      quarantined: one['quarantined'] as boolean,
    }
  })
}
