/** Releases permits before their job ends. */
import type { PermitOf } from '../../store/types/limit.ts'
import type { Row } from '../connection/connection.ts'
import { ask, type Context } from '../context.ts'
import { freedFor, GIVEN_CTE } from '../fragments.ts'
import { readyCounts, notifyFor } from '../enqueue/ready-counts.ts'

/**
 * Locks the permits by holder, in the sorted order of the parameter, so that concurrent calls cannot
 * deadlock. Deletes by key instead of ctid, because a concurrent acquire may have updated and moved the row.
 * Permits of other attempts are kept.
 */
const RELEASE = `
WITH ${GIVEN_CTE}, mine AS MATERIALIZED (
  SELECT t.* FROM given CROSS JOIN json_to_recordset(p -> 'items') AS x(limit_name text, holder uuid, token int8)
   CROSS JOIN LATERAL (
     SELECT t.limit_name, t.holder FROM jobmill.permit AS t
      WHERE t.limit_name = x.limit_name AND t.holder = x.holder AND t.token IS NOT DISTINCT FROM x.token FOR UPDATE) AS t
), permit_freed AS (
  DELETE FROM jobmill.permit AS t
   WHERE t.holder = ANY (ARRAY(SELECT holder FROM mine)) AND (t.limit_name, t.holder) IN (SELECT limit_name, holder FROM mine)
  RETURNING t.limit_name, t.holder, t.token
)
SELECT limit_name, holder, token, ${freedFor('permit_freed')} AS freed FROM permit_freed`

type Released = Record<'limit_name' | 'holder', string> & { readonly token: number | null }

export async function release(context: Context, items: readonly PermitOf[]): Promise<boolean[]> {
  if (items.length === 0) return []
  const given = items.map(({ limit: limit_name, holder, token }) => ({ limit_name, holder, token }))
  const sorted = given.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  const rows = await ask<Released & Row>(context, RELEASE, { items: sorted })
  const counts = readyCounts()
  counts.addFreed(rows)
  notifyFor(context, counts)
  const found = new Set(rows.map(keyOf))
  // A permit that occurs twice in a call counts once.
  return given.map((permit) => found.delete(keyOf(permit)))
}

function keyOf({ limit_name, holder, token }: Released): string {
  return `${limit_name} ${holder} ${token}`
}
