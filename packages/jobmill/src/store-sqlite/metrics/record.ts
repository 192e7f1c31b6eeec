/** Writes what a process observed since its last flush: metrics to roll up, its own metrics, and events. */
import { type Recording, RESOLUTIONS } from '../../store/types/metrics.ts'
import { bucketAt } from './roll-up.ts'
import type { Work } from '../work.ts'

// By primary key, under the write lock, so that the second of two concurrent writes sees the first.
const LAST = `SELECT seq FROM jobmill_recording WHERE source = ?`
const NOTE = `INSERT OR REPLACE INTO jobmill_recording (source, seq, at) VALUES (?, ?, ?)`

// Metrics are only appended, at the end of the table.
const DELTA = `INSERT INTO jobmill_metric_delta (scope, at, data) VALUES (?, ?, ?)`
const OWN = `INSERT OR REPLACE INTO jobmill_metric (resolution, scope, at, data) VALUES (?, ?, ?, ?)`
const EVENT = `INSERT INTO jobmill_event (n, at, type, source, queue, job, data) VALUES (?, ?, ?, ?, ?, ?, ?)`

export function record(work: Work, { source, seq, deltas, own, events }: Recording): void {
  const { sql, now, counters } = work
  const last = sql(LAST).get(source) as { seq: number } | undefined
  if (last !== undefined && last.seq >= seq) return
  sql(NOTE).run(source, seq, now)
  for (const { scope, agoMs, data } of deltas)
    sql(DELTA).run(scope, bucketAt(now - agoMs, RESOLUTIONS[0]), JSON.stringify(data))
  for (const { scope, resolution, agoMs, data } of own)
    sql(OWN).run(resolution, scope, bucketAt(now - agoMs, resolution), JSON.stringify(data))
  for (const { type, agoMs, queue, job, data } of events)
    sql(EVENT).run(counters.take('event'), now - agoMs, type, source, queue, job, data)
}
