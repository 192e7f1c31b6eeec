/** Leadership: a lease per duty. Taken and renewed by the pulse, let go of when the instance ends. */
import type { DutyBid, DutyRecord } from '../store/duty.ts'
import { type Context, run } from './context.ts'
import { GIVEN, NOW } from './fragments.ts'

/**
 * For a pulse that defines `me(id, alive, renewed)`: takes what nobody leads, and renews what is its own in the pulses that write its row;
 * otherwise nothing is written. A look at the few rows first, and where two look at once the conflict decides: the second waits for
 * the first and finds its lease. In the order of the names, so that two pulses cannot wait for each other.
 */
export const DUTIES_LED = `bid AS MATERIALIZED (
  SELECT x.name, x.failures, g.now - x.ago_ms AS succeeded_at, d.leader IS NULL OR d.expires_at <= g.now AS is_vacant,
         d.leader = me.id AND d.expires_at > g.now AS is_mine
    FROM given AS g CROSS JOIN me CROSS JOIN json_to_recordset(g.p -> 'duties') AS x(name text, ago_ms int8, failures int8)
    LEFT JOIN jobmill.duty AS d ON d.name = x.name
   WHERE me.alive
), led AS (
  INSERT INTO jobmill.duty AS d (name, leader, expires_at, last_success_at, failures)
  SELECT b.name, me.id, g.now + (g.p ->> 'lease_ms')::int8, b.succeeded_at, b.failures FROM given AS g, me, bid AS b
   WHERE b.is_vacant OR (b.is_mine AND me.renewed) ORDER BY b.name
  ON CONFLICT (name) DO UPDATE SET leader = excluded.leader, expires_at = excluded.expires_at,
     last_success_at = coalesce(excluded.last_success_at, d.last_success_at), failures = excluded.failures
   WHERE d.leader IS NULL OR d.leader = excluded.leader OR d.expires_at <= ${NOW}
  RETURNING d.name
)`

/** What it leads after that: JSON text, null for none. */
export const LEADS = `(SELECT json_agg(l.name ORDER BY l.name COLLATE "C") FROM (
  SELECT name FROM led UNION ALL SELECT b.name FROM bid AS b, me WHERE b.is_mine AND NOT me.renewed) AS l)`

/** Of the instances `over(id)`. In the order of the names, like the pulses. */
export const DUTIES_LEFT = `left_behind AS MATERIALIZED (
  SELECT name FROM jobmill.duty WHERE leader = ANY (ARRAY(SELECT id FROM over)) ORDER BY name FOR UPDATE
), let_go AS (
  UPDATE jobmill.duty AS d SET leader = NULL, expires_at = NULL FROM left_behind AS b
   WHERE d.name = b.name AND d.leader = ANY (ARRAY(SELECT id FROM over))
)`

const DUTIES = `
WITH ${GIVEN}
SELECT d.name, d.last_success_at, d.failures, CASE WHEN d.expires_at > g.now THEN d.leader END AS leader,
       CASE WHEN d.expires_at > g.now THEN d.expires_at END AS expires_at
  FROM given AS g, jobmill.duty AS d ORDER BY d.name COLLATE "C"`

/** The bids as they stand in the parameter: each duty once. */
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
