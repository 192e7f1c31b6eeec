/** Reads metrics: the buckets and the deltas that are not rolled up yet, in one snapshot. */
import { type MetricData, mergeData } from '../../job/metric-data.ts'
import type { MetricQuery, MetricRecord } from '../../store/types/metrics.ts'
import { ask, type Context } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'
import { bucketOf } from './record.ts'

/**
 * Reads a range of the primary key of `metric`, and all rows of `metric_delta`, which are few. Rolled-up rows
 * come first.
 */
const METRICS = `
WITH ${GIVEN_CTE}, asked AS MATERIALIZED (
  SELECT (p ->> 'resolution')::int4 AS resolution, (p ->> 'from')::int8 AS from_at, (p ->> 'before')::int8 AS before_at,
         CASE WHEN p -> 'scopes' IS NOT NULL THEN ARRAY(SELECT json_array_elements_text(p -> 'scopes')) END AS scopes,
         CASE WHEN p -> 'types' IS NOT NULL THEN ARRAY(SELECT json_array_elements_text(p -> 'types')) END AS types
    FROM given
), found AS (
  SELECT m.scope, m.at, m.data, 0::int8 AS n FROM jobmill.metric AS m
   WHERE m.resolution = (SELECT resolution FROM asked)
     AND m.at >= (SELECT from_at FROM asked) AND m.at < (SELECT before_at FROM asked)
  UNION ALL
  SELECT f.scope, ${bucketOf('f.at', 'a.resolution')}, f.data, f.n FROM jobmill.metric_delta AS f, asked AS a
)
SELECT f.scope, f.at, f.data FROM found AS f, asked AS a
 WHERE f.at >= a.from_at AND f.at < a.before_at AND (a.scopes IS NULL OR f.scope = ANY (a.scopes))
   AND (a.types IS NULL OR split_part(f.scope, ' ', 1) = ANY (a.types))
 ORDER BY f.scope COLLATE "C", f.at, f.n`

export async function metrics(context: Context, query: MetricQuery): Promise<MetricRecord[]> {
  const rows = await ask<{ scope: string; at: number; data: string }>(context, METRICS, query)
  const records: MetricRecord[] = []
  for (const { scope, at, data: text } of rows) {
    const data = JSON.parse(text) as MetricData
    const last = records.at(-1)
    if (last?.scope === scope && last.at === at)
      records.push({ scope, at, data: mergeData(records.pop()?.data ?? {}, data) })
    else records.push({ scope, at, data })
  }
  return records
}
