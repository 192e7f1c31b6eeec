/** Merges recorded metrics into the buckets of every size. */
import { type MetricData, mergeData } from '../../job/metric-data.ts'
import { RESOLUTIONS } from '../../store/types/metrics.ts'
import { ask, askWith, type Context, inTransaction } from '../context.ts'
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

/** A row of a bucket or, without a resolution, of a delta. The data is JSON text. */
type BucketRow = Omit<Bucket, 'data'> & { readonly data: string }
type DeltaRow = Omit<BucketRow, 'resolution'> & { readonly n: number }

export function rollUp(context: Context, limit: number): Promise<number> {
  return inTransaction(context, async (inside) => {
    const deltas = await askWith<DeltaRow>(inside, takeDeltas(limit))
    if (deltas.length > 0) await merge(inside, inBuckets(deltas))
    return deltas.length
  })
}

async function merge(inside: Context, sums: ReadonlyMap<string, Bucket>): Promise<void> {
  const keys = [...sums.values()].map(({ resolution, at, scope }) => ({ resolution, at, scope }))
  const given = { buckets: keys.toSorted(byKey) }
  await ask(inside, MAKE_BUCKETS, given)
  const rows = await ask<BucketRow>(inside, LOCK_BUCKETS, given)
  const buckets = rows.map(({ data, ...key }) => {
    const known = JSON.parse(data) as MetricData
    return { ...key, data: mergeData(known, sums.get(keyOf(key))?.data ?? {}) }
  })
  await ask(inside, WRITE_BUCKETS, { buckets })
}

/** Sums the metrics into their buckets of every size. */
function inBuckets(deltas: readonly DeltaRow[]): Map<string, Bucket> {
  const buckets = new Map<string, Bucket>()
  for (const { at, scope, data } of deltas.toSorted((a, b) => a.n - b.n)) {
    const more = JSON.parse(data) as MetricData
    for (const resolution of RESOLUTIONS) {
      const key = { resolution, at: at - (at % resolution), scope }
      const known = buckets.get(keyOf(key))?.data
      buckets.set(keyOf(key), { ...key, data: known === undefined ? more : mergeData(known, more) })
    }
  }
  return buckets
}

type Key = Pick<Bucket, 'resolution' | 'at' | 'scope'>

function keyOf({ resolution, at, scope }: Key): string {
  return `${resolution} ${at} ${scope}`
}

function byKey(a: Key, b: Key): number {
  return a.resolution - b.resolution || a.at - b.at || (a.scope < b.scope ? -1 : 1)
}
