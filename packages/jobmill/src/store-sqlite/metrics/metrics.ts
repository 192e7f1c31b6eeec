/** Metrics in buckets of one size, both rolled up and still open. */
import { type MetricData, mergeData } from '../../job/metric-data.ts'
import type { MetricQuery, MetricRecord } from '../../store/types/metrics.ts'
import { bucketsOf, type MetricDeltaRow } from './roll-up.ts'
import type { Look } from '../work.ts'

// Hops from scope to scope in the primary key, then reads a range of it for each: nothing outside the time
// range is read.
const NEXT_SCOPE = `
  SELECT scope FROM jobmill_metric WHERE resolution = ? AND scope > ? ORDER BY scope LIMIT 1`
const RANGE = `
  SELECT at, data FROM jobmill_metric WHERE resolution = ? AND scope = ? AND at >= ? AND at < ? ORDER BY at`

// Everything open: what processes flushed since the last roll-up, about 15 seconds ago.
const OPEN = `SELECT n, scope, at, data FROM jobmill_metric_delta ORDER BY n`

export function metrics(look: Look, query: MetricQuery): MetricRecord[] {
  const { resolution, from, before } = query
  const wanted = query.scopes === undefined ? undefined : new Set(query.scopes)
  const found = new Map<string, MetricRecord>()
  const put = (bucket: MetricRecord): void => void found.set(`${bucket.at} ${bucket.scope}`, bucket)
  for (const scope of wanted ?? scopes(look, resolution)) {
    const rows = look.sql(RANGE).all(resolution, scope, from, before) as { at: number; data: string }[]
    for (const { at, data } of rows) put({ scope, at, data: JSON.parse(data) as MetricData })
  }
  for (const { scope, at, data } of bucketsOf(look.sql(OPEN).all() as MetricDeltaRow[], resolution)) {
    if (at < from || at >= before || wanted?.has(scope) === false) continue
    const known = found.get(`${at} ${scope}`)
    put({ scope, at, data: known === undefined ? data : mergeData(known.data, data) })
  }
  return [...found.values()].toSorted(byScope)
}

function* scopes({ sql }: Look, resolution: number): Generator<string> {
  let scope = ''
  for (;;) {
    const row = sql(NEXT_SCOPE).get(resolution, scope) as { scope: string } | undefined
    if (row === undefined) return
    scope = row.scope
    yield scope
  }
}

function byScope(a: MetricRecord, b: MetricRecord): number {
  return a.scope === b.scope ? a.at - b.at : a.scope < b.scope ? -1 : 1
}
