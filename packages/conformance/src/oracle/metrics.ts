/** record and rollUp: metrics and events of processes, and how they are read. */
import {
  mergeData,
  type MetricQuery,
  type MetricRecord,
  type Recording,
  RESOLUTIONS,
  type TimelineEvent,
  type TimelineQuery,
} from 'jobmill/store'
import type { OracleBucket, OracleDelta, OracleState } from './state.ts'

export function record(state: OracleState, recording: Recording): void {
  const { source, seq, deltas, own, events } = recording
  if ((state.recorded.get(source)?.seq ?? -1) >= seq) return
  state.recorded.set(source, { seq, at: state.now })
  for (const { scope, agoMs, data } of deltas)
    state.openDeltas.push({
      scope,
      at: bucketAt(state.now - agoMs, RESOLUTIONS[0]),
      data: structuredClone(data),
    })
  for (const { scope, resolution, agoMs, data } of own)
    put(state, {
      scope,
      resolution,
      at: bucketAt(state.now - agoMs, resolution),
      data: structuredClone(data),
    })
  for (const { agoMs, ...event } of events) {
    state.lastEvent += 1
    state.events.push({ n: state.lastEvent, at: state.now - agoMs, source, ...event })
  }
}

function bucketAt(at: number, resolution: number): number {
  return at - (at % resolution)
}

function isSame(a: OracleBucket, b: OracleBucket): boolean {
  return a.scope === b.scope && a.resolution === b.resolution && a.at === b.at
}

function put(state: OracleState, bucket: OracleBucket): void {
  state.buckets = [...state.buckets.filter((one) => !isSame(one, bucket)), bucket]
}

export function rollUp(state: OracleState, limit: number): number {
  const merged = state.openDeltas.splice(0, limit)
  for (const delta of merged)
    for (const resolution of RESOLUTIONS) put(state, withDelta(state.buckets, delta, resolution))
  return merged.length
}

/** Adds a metric to its bucket of this size. */
function withDelta(buckets: readonly OracleBucket[], delta: OracleDelta, resolution: number): OracleBucket {
  const bucket = { ...delta, resolution, at: bucketAt(delta.at, resolution) }
  const known = buckets.find((one) => isSame(one, bucket))
  return known === undefined ? bucket : { ...bucket, data: mergeData(known.data, delta.data) }
}

export function metrics(
  state: OracleState,
  { scopes, types, resolution, from, before }: MetricQuery,
): MetricRecord[] {
  let all = state.buckets.filter((bucket) => bucket.resolution === resolution)
  for (const delta of state.openDeltas) {
    const bucket = withDelta(all, delta, resolution)
    all = [...all.filter((one) => !isSame(one, bucket)), bucket]
  }
  return all
    .filter(
      ({ scope, at }) =>
        (scopes?.includes(scope) ?? true) &&
        (types?.includes(scope.split(' ', 1)[0] ?? '') ?? true) &&
        at >= from &&
        at < before,
    )
    .toSorted((a, b) => (a.scope === b.scope ? a.at - b.at : a.scope < b.scope ? -1 : 1))
    .map(({ scope, at, data }) => ({ scope, at, data }))
}

export function timeline(state: OracleState, query: TimelineQuery): TimelineEvent[] {
  const { types, queue, job, from, before, limit, beforeN } = query
  return state.events
    .filter(
      (event) =>
        (types?.includes(event.type) ?? true) &&
        (queue === undefined || event.queue === queue) &&
        (job === undefined || event.job === job) &&
        (from === undefined || event.at >= from) &&
        (before === undefined || event.at < before) &&
        (beforeN === undefined || event.n < beforeN),
    )
    .toReversed()
    .slice(0, limit)
}
