/** Ready → running: the leases of one instance, over all its queues, in one statement. */
import { BOUNDS, DEFAULTS } from '../job/defaults.ts'
import { STATE_CODE } from '../job/state.ts'
import type { ClaimRequest, Lease } from '../store/claim.ts'
import type { Row } from './connection.ts'
import { type Context, run } from './context.ts'
import { GIVEN } from './fragments.ts'

const { ready, running } = STATE_CODE

/**
 * Per queue the primary key of `ready` in its own order, which is the order of claims; for suspects their partial index.
 * A literal cap stands inside and the room outside: a variable limit inside is planned for a tenth of the table. Rows are
 * deleted by ctid with nothing else in that clause, so there is only one way to find them. SKIP LOCKED: claimers pass each
 * other by. The token comes from a sequence, so it is new and higher at every claim whatever commits first.
 */
const claimStatement = (limit: number, suspects: ClaimRequest['suspects']): string => `
WITH ${GIVEN}, want AS MATERIALIZED (
  SELECT q.id AS queue_id, w.room
    FROM given AS g, json_to_recordset(g.p -> 'queues') AS w(queue text, room int4), jobmill.queue AS q
   WHERE q.name = w.queue AND w.room > 0 AND NOT q.paused AND q.cool_until <= g.now
     AND EXISTS (SELECT FROM jobmill.instance AS i
                  WHERE i.id = (g.p ->> 'instance')::uuid AND i.ended_at IS NULL AND i.expires_at > g.now)
), leased AS (
  DELETE FROM jobmill.ready WHERE ctid = ANY (ARRAY(
    SELECT c.tid FROM (
      SELECT y.tid, y.priority, y.seq FROM want AS w CROSS JOIN LATERAL (
        SELECT x.tid, x.priority, x.seq FROM (
          SELECT r.ctid AS tid, r.priority, r.seq FROM jobmill.ready AS r
           WHERE r.queue_id = w.queue_id AND r.crashes ${suspects === 'only' ? '>=' : '<'} ${DEFAULTS.crashesUntilAlone}
             AND r.kind_id = ANY (ARRAY(SELECT k.id FROM given, json_array_elements_text(p -> 'kinds') AS v(name),
                                               jobmill.kind AS k WHERE k.name = v.name))
           ORDER BY r.priority, r.seq LIMIT ${BOUNDS.claimLimit} FOR UPDATE SKIP LOCKED) AS x
         LIMIT w.room) AS y
       ORDER BY y.priority, y.seq LIMIT ${suspects === 'only' ? 1 : limit}) AS c))
  RETURNING *
), to_running AS (
  INSERT INTO jobmill.running (id, token, instance, seq, ready_at, started_at, queue_id, kind_id, tries, priority, attempt,
                               crashes, flags)
  SELECT l.id, (SELECT nextval('jobmill.token')), (g.p ->> 'instance')::uuid, l.seq, l.ready_at, g.now, l.queue_id, l.kind_id,
         l.tries + 1, l.priority, l.attempt + 1, l.crashes, l.flags
    FROM leased AS l, given AS g
  RETURNING id, token
), tallied AS (
  INSERT INTO jobmill.tally (queue_id, from_state, to_state, n)
  SELECT queue_id, ${ready}, ${running}, count(*) FROM leased GROUP BY 1
)
SELECT l.id, t.token, l.kind_id, l.queue_id, l.priority, l.attempt + 1 AS attempt, l.crashes, l.ready_at,
       j.max_attempts, j.payload, j.timeout_ms, j.tags, j.metadata, j.order_key, j.enqueued_at
  FROM leased AS l JOIN to_running AS t ON t.id = l.id JOIN jobmill.job AS j ON j.id = l.id
 ORDER BY l.priority, l.seq`

export async function claim(context: Context, request: ClaimRequest): Promise<Lease[]> {
  context.heard(request.queues.map(({ queue }) => queue))
  const rows = await run(
    context,
    context.connection.query,
    claimStatement(request.limit, request.suspects),
    `"instance":${JSON.stringify(request.instance)},"queues":${JSON.stringify(request.queues)},"kinds":${JSON.stringify(request.kinds)}`,
  )
  if (rows.length === 0) return []
  const { names } = context
  await names.learn(
    rows.map((row) => Number(row['queue_id'])),
    rows.map((row) => Number(row['kind_id'])),
  )
  return rows.map((row) => leaseOf(context, row))
}

function leaseOf({ names }: Context, row: Row): Lease {
  return {
    id: row['id'] as string,
    token: row['token'] as number,
    kind: names.kindName(row['kind_id'] as number),
    queue: names.queueName(row['queue_id'] as number),
    priority: row['priority'] as number,
    attempt: row['attempt'] as number,
    maxAttempts: row['max_attempts'] as number,
    crashes: row['crashes'] as number,
    payload: row['payload'] as string,
    timeoutMs: row['timeout_ms'] as number | null,
    tags: (row['tags'] as string[] | null) ?? [],
    metadata: row['metadata'] as string | null,
    orderKey: row['order_key'] as string | null,
    enqueuedAt: row['enqueued_at'] as number,
    readyAt: row['ready_at'] as number,
  }
}
