/** The general statement that moves ready jobs to running, and the conversion of its rows to leases. */
import { BOUNDS, DEFAULTS } from '../../job/defaults.ts'
import { STATE_CODE } from '../../job/state.ts'
import type { ClaimRequest, Lease } from '../../store/types/claim.ts'
import type { Row } from '../connection/connection.ts'
import type { Context } from '../context.ts'
import { GIVEN_CTE, HAS_PERMIT, kindName, queueName } from '../fragments.ts'
import { NEXT_TOKEN } from '../schema/functions/pieces.ts'
import { KIND_IDS, limitedColumns } from './limited.ts'

const { ready, running } = STATE_CODE

/**
 * `free`: queues without a limit. `budget` and `permits`: queues of one locked limit, for a rate or a
 * concurrency limit.
 */
export type ClaimPart = 'free' | 'budget' | 'permits'

/**
 * Reads the primary key of `ready` per queue, which is in claim order, or the partial index of quarantined
 * jobs. The inner LIMIT is a literal, because the planner assumes a tenth of the table for a variable one.
 * Rows are deleted by ctid alone, so that there is only one possible plan. SKIP LOCKED lets concurrent claims
 * pass each other. The token is read after the jobs were locked, so it rises with every claim of a job.
 *
 * The reply has at least one row, because its columns about limited queues are needed even without a lease.
 */
export const claimStatement = (
  context: Context,
  limit: number,
  quarantine: ClaimRequest['quarantined'],
  part: ClaimPart,
): string => `
WITH ${GIVEN_CTE}, open AS MATERIALIZED (
  SELECT q.id AS queue_id, q.name, q.limit_name, w.room
    FROM given AS g, json_to_recordset(g.p -> 'queues') AS w(queue text, room int4), jobmill.queue AS q
   WHERE q.name = w.queue AND w.room > 0 AND NOT q.paused AND q.cool_until <= g.now
     AND EXISTS (SELECT FROM jobmill.instance AS i
                  WHERE i.id = (g.p ->> 'instance')::uuid AND i.ended_at IS NULL AND i.expires_at > g.now)
), want AS MATERIALIZED (
  SELECT queue_id, room FROM open WHERE limit_name ${part === 'free' ? 'IS NULL' : `= (SELECT p ->> 'limit' FROM given)`}
), leased AS (
  DELETE FROM jobmill.ready WHERE ctid = ANY (ARRAY(
    SELECT c.tid FROM (
      SELECT y.tid, y.priority, y.seq FROM want AS w CROSS JOIN LATERAL (
        SELECT x.tid, x.priority, x.seq FROM (
          SELECT r.ctid AS tid, r.priority, r.seq FROM jobmill.ready AS r
           WHERE r.queue_id = w.queue_id AND r.crashes ${quarantine === 'only' ? '>=' : '<'} ${DEFAULTS.crashesUntilAlone}
             AND r.kind_id = ANY (${KIND_IDS})
           ORDER BY r.priority, r.seq LIMIT ${BOUNDS.claimLimit} FOR UPDATE SKIP LOCKED) AS x
         LIMIT w.room) AS y
       ORDER BY y.priority, y.seq LIMIT ${quarantine === 'only' ? 1 : limit}) AS c))
  RETURNING *
), to_running AS (
  INSERT INTO jobmill.running (id, token, instance, seq, ready_at, started_at, queue_id, kind_id, tries, priority, attempt,
                               crashes, flags)
  SELECT l.id, (SELECT ${NEXT_TOKEN}), (g.p ->> 'instance')::uuid, l.seq, l.ready_at, g.now, l.queue_id, l.kind_id,
         l.tries + 1, l.priority, l.attempt + 1, l.crashes, ${part === 'permits' ? `l.flags | ${HAS_PERMIT}` : 'l.flags'}
    FROM leased AS l, given AS g
  RETURNING id, token, instance
), ${part === 'permits' ? `${PERMITTED}, ` : ''}tallied AS (
  INSERT INTO jobmill.tally (queue_id, from_state, to_state, n)
  SELECT queue_id, ${ready}, ${running}, count(*) FROM leased GROUP BY 1
)
SELECT g.now, ${part === 'free' ? `${limitedColumns(context)}, ` : ''}c.*, g.now - c.ready_at AS waited_ms
  FROM given AS g LEFT JOIN (
    SELECT l.id, t.token, ${kindName('l.kind_id')} AS kind, ${queueName('l.queue_id')} AS queue, l.priority, l.seq, l.attempt + 1 AS attempt, l.crashes, l.ready_at,
           j.max_attempts, j.payload, j.timeout_ms, j.tags, j.metadata, j.order_key, j.enqueued_at
      FROM leased AS l JOIN to_running AS t ON t.id = l.id JOIN jobmill.job AS j ON j.id = l.id) AS c ON true
 ORDER BY c.priority, c.seq`

/** Replaces a stale permit of an earlier attempt. */
const PERMITTED = `permitted AS (
  INSERT INTO jobmill.permit (limit_name, holder, instance, token, amount)
  SELECT g.p ->> 'limit', t.id, t.instance, t.token, 1 FROM to_running AS t, given AS g
  ON CONFLICT (limit_name, holder) DO UPDATE
     SET instance = excluded.instance, token = excluded.token, amount = excluded.amount
)`

export function claimFields(
  { instance, kinds }: Pick<ClaimRequest, 'instance' | 'kinds'>,
  queues: ClaimRequest['queues'],
  limit: string | null,
): string {
  return JSON.stringify({ instance, kinds, queues, limit }).slice(1, -1)
}

/** The rows that are leases. A claim that found nothing returns one row without a lease. */
export function leaseRows(rows: readonly Row[]): readonly Row[] {
  return rows.filter((row) => row['id'] !== null)
}

export function leaseOf(row: Row): Lease {
  return {
    id: row['id'] as string,
    token: row['token'] as number,
    kind: row['kind'] as string,
    queue: row['queue'] as string,
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
    waitedMs: row['waited_ms'] as number,
  }
}
