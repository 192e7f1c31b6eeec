/** Metrics: the recordings of processes, their roll-up into buckets of every size, and the buckets. */
import { type MetricData, mergeData } from '../../job/metric-data.ts'
import type { MetricQuery, MetricRecord, Recording } from '../../store/types/metrics.ts'
import { RESOLUTIONS } from '../../store/types/metrics.ts'
import type { Look, Work } from '../work.ts'

// Uses the primary key, under the write lock, so that the second of two concurrent writes sees the first.
const LAST = `SELECT seq FROM jobmill_recording WHERE source = ?`
const NOTE = `INSERT OR REPLACE INTO jobmill_recording (source, seq, at) VALUES (?, ?, ?)`

// Metrics are only appended, at the end of the table.
const DELTA = `INSERT INTO jobmill_metric_delta (scope, at, data) VALUES (?, ?, ?)`
const EVENT = `INSERT INTO jobmill_event (n, at, type, source, queue, job, data) VALUES (?, ?, ?, ?, ?, ?, ?)`

/**
 * Writes the recordings of a process since its last flush: metrics to roll up, metrics about itself, and
 * events.
 */
export function record(work: Work, { source, seq, deltas, own, events }: Recording): void {
  const { sql, now, counters } = work
  const last = sql(LAST).get(source) as { seq: number } | undefined
  if (last !== undefined && last.seq >= seq) return
  sql(NOTE).run(source, seq, now)
  for (const { scope, agoMs, data } of deltas)
    sql(DELTA).run(scope, bucketAt(now - agoMs, RESOLUTIONS[0]), JSON.stringify(data))
  for (const { scope, resolution, agoMs, data } of own)
    sql(SET).run(resolution, scope, bucketAt(now - agoMs, resolution), JSON.stringify(data))
  for (const { type, agoMs, queue, job, data } of events)
    sql(EVENT).run(counters.take('event'), now - agoMs, type, source, queue, job, data)
}

// The front of the table by primary key, then exactly those rows: metrics are appended, and the write lock is
// held.
const FIRST_OPEN = `SELECT n, scope, at, data FROM jobmill_metric_delta WHERE n > 0 ORDER BY n LIMIT ?`
const CLOSE = `DELETE FROM jobmill_metric_delta WHERE n <= ?`
const ANY = `SELECT 1 FROM jobmill_metric_delta WHERE n > 0 LIMIT 1`

// Uses the primary key.
const FIND = `SELECT data FROM jobmill_metric WHERE resolution = ? AND scope = ? AND at = ?`
const SET = `INSERT OR REPLACE INTO jobmill_metric (resolution, scope, at, data) VALUES (?, ?, ?, ?)`

interface DeltaRow extends Omit<MetricRecord, 'data'> {
  readonly n: number
  /** JSON of MetricData. */
  readonly data: string
}

/** The start of the bucket that contains this instant. */
function bucketAt(at: number, resolution: number): number {
  return Math.floor(at / resolution) * resolution
}

/** Rolls up open metrics into the buckets of every resolution. */
export function rollUp({ sql }: Work, limit: number): number {
  const deltas = sql(FIRST_OPEN).all(limit) as DeltaRow[]
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
function bucketsOf(deltas: readonly DeltaRow[], resolution: number): MetricRecord[] {
  const buckets = new Map<string, MetricRecord>()
  for (const { scope, at, data } of deltas)
    add(buckets, { scope, at: bucketAt(at, resolution), data: JSON.parse(data) as MetricData })
  return [...buckets.values()]
}

/** Merges metrics into their bucket. */
function add(buckets: Map<string, MetricRecord>, { scope, at, data }: MetricRecord): void {
  const key = `${at} ${scope}`
  const known = buckets.get(key)
  buckets.set(key, { scope, at, data: known === undefined ? data : mergeData(known.data, data) })
}

/** Whether `rollUp` has something to do. */
export function needsRollUp({ sql }: Look): boolean {
  return sql(ANY).get() !== undefined
}

// Skips from scope to scope in the primary key, then reads one range for each, so it reads nothing outside
// the time range.
const NEXT_SCOPE = `
  SELECT scope FROM jobmill_metric WHERE resolution = ? AND scope > ? ORDER BY scope LIMIT 1`
const RANGE = `
  SELECT at, data FROM jobmill_metric WHERE resolution = ? AND scope = ? AND at >= ? AND at < ? ORDER BY at`

// Reads all open metrics: those that processes flushed since the last roll-up, about 15 seconds ago.
const OPEN = `SELECT n, scope, at, data FROM jobmill_metric_delta ORDER BY n`

/** Metrics in buckets of one size, both rolled up and still open. */
export function metrics(look: Look, query: MetricQuery): MetricRecord[] {
  const { resolution, from, before, types } = query
  const wanted = query.scopes === undefined ? undefined : new Set(query.scopes)
  const isWanted = (scope: string): boolean =>
    wanted?.has(scope) !== false && types?.includes(scope.split(' ', 1)[0] ?? '') !== false
  const found = new Map<string, MetricRecord>()
  for (const scope of wanted ?? scopes(look, resolution)) {
    if (!isWanted(scope)) continue
    const rows = look.sql(RANGE).all(resolution, scope, from, before) as { at: number; data: string }[]
    for (const { at, data } of rows) add(found, { scope, at, data: JSON.parse(data) as MetricData })
  }
  for (const bucket of bucketsOf(look.sql(OPEN).all() as DeltaRow[], resolution)) {
    const { scope, at } = bucket
    if (at >= from && at < before && isWanted(scope)) add(found, bucket)
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
