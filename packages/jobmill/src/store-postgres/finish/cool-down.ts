/**
 * Writes the cool-downs of accepted finishes. They are rare, so a separate statement keeps the common finish
 * small.
 */
import type { CoolDown, Finish } from '../../store/types/finish.ts'
import type { Query } from '../connection/connection.ts'
import { columnsOf, type Context, run } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

// 2 to this power exceeds ten years in ms, so that the smallest base reaches any maximum.
const MOST_DOUBLINGS = 40

/**
 * The row lock makes two concurrent throttles count as one event: the second sees an active cool-down and
 * does not count. Uses the primary key of the queue.
 */
const COOL = `
WITH ${GIVEN_CTE}, cooling AS (
  SELECT q.id, g.now, q.cool_until, coalesce(i.for_ms, 0) AS for_ms, i.base_ms, i.max_ms,
         i.base_ms IS NOT NULL AND q.cool_until <= g.now AS opens,
         CASE WHEN g.now - q.cool_until >= i.quiet_ms THEN 1 ELSE q.throttles + 1 END AS throttles
    FROM given AS g, json_to_recordset(g.p -> 'cool') AS i(queue_id int4, for_ms int8, base_ms int8, max_ms int8, quiet_ms int8),
         jobmill.queue AS q
   WHERE q.id = i.queue_id ORDER BY q.id FOR UPDATE OF q
)
UPDATE jobmill.queue AS q
   SET throttles = CASE WHEN c.opens THEN c.throttles ELSE q.throttles END,
       cool_until = greatest(c.now + c.for_ms, CASE WHEN c.opens
         THEN c.now + least(c.max_ms, c.base_ms * 2 ^ least(c.throttles - 1, ${MOST_DOUBLINGS}))::int8 ELSE c.cool_until END)
  FROM cooling AS c WHERE q.id = c.id AND (c.opens OR c.now + c.for_ms > c.cool_until)`

/**
 * The cool-down of a queue that the throttles of one call request: a fixed time, one step of its backoff, or
 * both.
 */
type Asked = { readonly queueId: number; readonly forMs: number } & Partial<
  Extract<CoolDown, { readonly baseMs: number }>
>

/** A step of the backoff counts unless an earlier item of the call already cooled the queue. */
function merged(before: Asked, cool: CoolDown): Asked {
  if ('forMs' in cool) return { ...before, forMs: Math.max(before.forMs, cool.forMs) }
  return before.forMs === 0 ? { ...cool, ...before } : before
}

export async function coolQueues(
  context: Context,
  query: Query,
  items: readonly Finish[],
  queueIdOf: (item: Finish) => number,
): Promise<void> {
  const asked = new Map<number, Asked>()
  for (const item of items) {
    const queueId = queueIdOf(item)
    const before = asked.get(queueId) ?? { queueId, forMs: 0 }
    if (item.cool !== undefined) asked.set(queueId, merged(before, item.cool))
  }
  if (asked.size > 0) await run(context, query, COOL, { cool: [...asked.values()].map(columnsOf) })
}
