/** Rolls up open metrics into the buckets of every resolution. */
import { type MetricData, mergeData } from '../../job/metric-data.ts'
import { RESOLUTIONS } from '../../store/types/metrics.ts'
import type { Look, Work } from '../work.ts'

// The front of the table by primary key, then exactly those rows: metrics are appended, and the write lock is
// held.
const OPEN = `SELECT n, scope, at, data FROM jobmill_metric_delta WHERE n > 0 ORDER BY n LIMIT ?`
const CLOSE = `DELETE FROM jobmill_metric_delta WHERE n <= ?`
const ANY = `SELECT 1 FROM jobmill_metric_delta WHERE n > 0 LIMIT 1`

// By primary key.
const FIND = `SELECT data FROM jobmill_metric WHERE resolution = ? AND scope = ? AND at = ?`
const SET = `INSERT OR REPLACE INTO jobmill_metric (resolution, scope, at, data) VALUES (?, ?, ?, ?)`

export interface MetricDeltaRow {
  readonly n: number
  readonly scope: string
  readonly at: number
  /** JSON of MetricData. */
  readonly data: string
}

export interface Bucket {
  readonly scope: string
  readonly at: number
  readonly data: MetricData
}

/** The start of the bucket that contains this instant. */
export function bucketAt(at: number, resolution: number): number {
  return Math.floor(at / resolution) * resolution
}

export function rollUp({ sql }: Work, limit: number): number {
  const deltas = sql(OPEN).all(limit) as MetricDeltaRow[]
  const last = deltas.at(-1)
  if (last === undefined) return 0
  for (const resolution of RESOLUTIONS) {
    // Merged with each other first, because many belong to the same bucket.
    for (const { scope, at, data } of bucketsOf(deltas, resolution)) {
      const known = sql(FIND).get(resolution, scope, at) as { data: string } | undefined
      const merged = known === undefined ? data : mergeData(JSON.parse(known.data) as MetricData, data)
      sql(SET).run(resolution, scope, at, JSON.stringify(merged))
    }
  }
  sql(CLOSE).run(last.n)
  return deltas.length
}

/** Metrics in buckets of one size, merged in the order of writing. */
export function bucketsOf(deltas: readonly MetricDeltaRow[], resolution: number): Bucket[] {
  const buckets = new Map<string, Bucket>()
  for (const delta of deltas) {
    const at = bucketAt(delta.at, resolution)
    const key = `${at} ${delta.scope}`
    const data = JSON.parse(delta.data) as MetricData
    const known = buckets.get(key)
    buckets.set(key, {
      scope: delta.scope,
      at,
      data: known === undefined ? data : mergeData(known.data, data),
    })
  }
  return [...buckets.values()]
}

/** Whether `rollUp` has something to do. */
export function needsRollUp({ sql }: Look): boolean {
  return sql(ANY).get() !== undefined
}
