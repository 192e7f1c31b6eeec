/** Merges recorded metrics into the buckets of every size. */
import { type MetricData, mergeData } from '../../job/metric-data.ts'
import { RESOLUTIONS } from '../../store/types/metrics.ts'
import type { Query, Row } from '../connection/connection.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

/** In the order of the primary key. SKIP LOCKED lets concurrent passes take different rows. */
const takeDeltas = (limit: number): string => `
DELETE FROM jobmill.metric_delta WHERE n = ANY (ARRAY(
  SELECT n FROM jobmill.metric_delta ORDER BY n LIMIT ${limit} FOR UPDATE SKIP LOCKED))
RETURNING n, at, scope, data`

/**
 * Inserts a new bucket empty, so that there is a row to lock; a concurrent insert waits. Uses the order of
 * the primary key, like the following lock, to avoid deadlocks.
 */
const MAKE_BUCKETS = `
WITH ${GIVEN_CTE}
INSERT INTO jobmill.metric (resolution, at, scope, data)
SELECT x.resolution, x.at, x.scope, '{}' FROM given, json_to_recordset(p -> 'buckets') AS x(resolution int4, at int8, scope text)
 ORDER BY 1, 2, 3
ON CONFLICT (resolution, at, scope) DO NOTHING`

const LOCK_BUCKETS = `
WITH ${GIVEN_CTE}
SELECT m.resolution, m.at, m.scope, m.data
  FROM given, json_to_recordset(p -> 'buckets') AS x(resolution int4, at int8, scope text)
 CROSS JOIN LATERAL (
    SELECT * FROM jobmill.metric AS t WHERE t.resolution = x.resolution AND t.at = x.at AND t.scope = x.scope
       FOR UPDATE) AS m`

const WRITE_BUCKETS = `
WITH ${GIVEN_CTE}
UPDATE jobmill.metric AS m SET data = x.data
  FROM given, json_to_recordset(p -> 'buckets') AS x(resolution int4, at int8, scope text, data json)
 WHERE m.resolution = x.resolution AND m.at = x.at AND m.scope = x.scope`

interface Bucket {
  readonly resolution: number
  readonly at: number
  readonly scope: string
  readonly data: MetricData
}

export function rollUp(context: Context, limit: number): Promise<number> {
  return context.connection.transaction(async (query) => {
    const deltas = await query(context.sql(takeDeltas(limit)), [])
    if (deltas.length > 0) await merge(context, query, inBuckets(deltas))
    return deltas.length
  })
}

async function merge(context: Context, query: Query, buckets: ReadonlyMap<string, Bucket>): Promise<void> {
  const keys = [...buckets.values()].map(({ resolution, at, scope }) => ({ resolution, at, scope }))
  const field = `"buckets":${JSON.stringify(keys.toSorted(byKey))}`
  await run(context, query, MAKE_BUCKETS, field)
  const merged = (await run(context, query, LOCK_BUCKETS, field)).map((row) => {
    const known = bucketOf(row)
    const more = buckets.get(keyOf(known))
    return more === undefined ? known : { ...known, data: mergeData(known.data, more.data) }
  })
  await run(context, query, WRITE_BUCKETS, `"buckets":${JSON.stringify(merged)}`)
}

/** Sums the metrics into their buckets of every size. */
function inBuckets(deltas: readonly Row[]): Map<string, Bucket> {
  const buckets = new Map<string, Bucket>()
  for (const row of deltas.toSorted((a, b) => Number(a['n']) - Number(b['n']))) {
    for (const resolution of RESOLUTIONS) {
      const { at, scope, data } = bucketOf({ ...row, resolution })
      const bucket = { resolution, at: at - (at % resolution), scope, data }
      const known = buckets.get(keyOf(bucket))
      buckets.set(
        keyOf(bucket),
        known === undefined ? bucket : { ...known, data: mergeData(known.data, data) },
      )
    }
  }
  return buckets
}

function bucketOf(row: Row): Bucket {
  return {
    resolution: row['resolution'] as number,
    at: row['at'] as number,
    scope: row['scope'] as string,
    data: JSON.parse(row['data'] as string) as MetricData,
  }
}

type Key = Pick<Bucket, 'resolution' | 'at' | 'scope'>

function keyOf({ resolution, at, scope }: Key): string {
  return `${resolution} ${at} ${scope}`
}

function byKey(a: Key, b: Key): number {
  return a.resolution - b.resolution || a.at - b.at || (a.scope < b.scope ? -1 : 1)
}
