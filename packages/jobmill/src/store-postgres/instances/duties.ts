/**
 * Leadership: one lease per duty. The heartbeat takes and renews it, and the end of the instance releases it.
 */
import type { DutyBid, DutyRecord } from '../../store/types/duty.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

/** Releases the duties of the instances `over(id)`. Locks in the order of the names, like heartbeats do. */
export const DUTIES_LEFT = `left_behind AS MATERIALIZED (
  SELECT name FROM jobmill.duty WHERE leader = ANY (ARRAY(SELECT id FROM over)) ORDER BY name FOR UPDATE
), let_go AS (
  UPDATE jobmill.duty AS d SET leader = NULL, expires_at = NULL FROM left_behind AS b
   WHERE d.name = b.name AND d.leader = ANY (ARRAY(SELECT id FROM over))
)`

const DUTIES = `
WITH ${GIVEN_CTE}
SELECT d.name, d.last_success_at, d.failures, CASE WHEN d.expires_at > g.now THEN d.leader END AS leader,
       CASE WHEN d.expires_at > g.now THEN d.expires_at END AS expires_at
  FROM given AS g, jobmill.duty AS d ORDER BY d.name COLLATE "C"`

/** The bids for the parameter, each duty once. */
export function bidFields(duties: readonly DutyBid[]): object[] {
  const bids = new Map(duties.map((bid) => [bid.name, bid]))
  return [...bids.values()].map(({ name, succeededAgoMs, failures }) => ({
    name,
    ago_ms: succeededAgoMs,
    failures,
  }))
}

export async function duties(context: Context): Promise<DutyRecord[]> {
  const rows = await run(context, context.connection.query, DUTIES, '')
  return rows.map((row) => ({
    name: row['name'] as string,
    leader: row['leader'] as string | null,
    expiresAt: row['expires_at'] as number | null,
    lastSuccessAt: row['last_success_at'] as number | null,
    failures: row['failures'] as number,
  }))
}
