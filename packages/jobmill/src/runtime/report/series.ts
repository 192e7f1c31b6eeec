/** Metrics in readable form: the buckets of one scope sorted and merged, with rates and percentiles. */
import { countOf, mergeData, type MetricData, percentile, sumOf } from '../../job/metric-data.ts'
import { drawOf, type DrawCount, DRAWS } from '../../observe/draws.ts'
import { LIMIT_LEVELS, QUEUE_LEVELS } from '../../observe/gauge-sampler.ts'
import {
  ATTEMPT_ENDS,
  type AttemptEnd,
  type Counter,
  COUNTERS,
  LATENCIES,
  type Latency,
} from '../../observe/tally.ts'
import { type Attempts, attemptsByVersion } from '../../observe/attempts.ts'
import { GAUGES } from '../../observe/process-metrics.ts'
import { STORE_CLASSES } from '../../observe/store-timings.ts'
import type { MetricRecord } from '../../store/types/metrics.ts'
import type { MetricsWindow } from './metrics-window.ts'

/** In ms, accurate to 4%. Null when nothing was counted. */
export interface Percentiles {
  readonly count: number
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

/**
 * `waiting`: from ready to started. `running`: one attempt, whatever its outcome. `total`: from enqueue to
 * done.
 */
interface QueueMetrics extends Readonly<Record<Latency, Percentiles>> {
  readonly counters: Readonly<Record<Counter, number>>
  readonly perSecond: Readonly<Record<Counter, number>>
  /** Gauges, sampled every 10 s. Null without a sample. `oldestReadyMs` is 0 while nothing is ready. */
  readonly counts: Readonly<Record<(typeof QUEUE_LEVELS)[number], GaugeMetrics | null>>
}

/** How the attempts of a kind ended, each counted once, and how long they ran. */
interface KindMetrics {
  readonly ended: Readonly<Record<AttemptEnd, number>>
  readonly running: Percentiles
  /** How long its attempts occupied workers, added up. */
  readonly workerMs: number
  /**
   * Attempts that succeeded or failed, by version of the application. Attempts of processes without a version
   * are left out.
   */
  readonly byVersion: Readonly<Record<string, Attempts>>
}

/**
 * Requests of handlers. Tokens that a queue takes with its claims are not included; see `started` of the
 * queue.
 */
type Draws = Readonly<Record<DrawCount, number>>

interface LimitMetrics extends Draws {
  /** Available tokens (whole) or permits, and permits in use. */
  readonly available: GaugeMetrics | null
  readonly held: GaugeMetrics | null
  readonly byKind: Readonly<Record<string, Draws>>
}

interface GaugeMetrics {
  readonly mean: number
  readonly most: number
}

interface InstanceMetrics {
  /** As a share of one core. */
  readonly cpu: GaugeMetrics | null
  readonly rssBytes: GaugeMetrics | null
  readonly heapBytes: GaugeMetrics | null
  /** Event-loop lag: how late timers fired. */
  readonly loopLagMs: GaugeMetrics | null
  readonly store: Readonly<Record<(typeof STORE_CLASSES)[number], Percentiles>> & {
    readonly failures: number
  }
  /** Timeline events that were dropped because the buffer was full. */
  readonly eventsDropped: number
}

/** The metrics of the whole window, and of each bucket: `at` is its start. */
interface Series<Metrics> {
  readonly all: Metrics
  readonly points: readonly (Metrics & { readonly at: number })[]
}

export interface QueueSeries extends Series<QueueMetrics> {
  readonly queue: string
}

export interface KindSeries extends Series<KindMetrics> {
  readonly kind: string
}

export interface InstanceSeries extends Series<InstanceMetrics> {
  readonly instance: string
}

export interface LimitSeries extends Series<LimitMetrics> {
  readonly limit: string
}

type Shape = MetricsWindow & { readonly now: number }

export function queueSeries(queue: string, records: readonly MetricRecord[], shape: Shape): QueueSeries {
  const { from, to, now, resolution } = shape
  const seconds = (start: number, end: number): number => Math.max(1_000, Math.min(end, now) - start) / 1_000
  // The current bucket is partial, so its rate uses the elapsed time.
  const ofBucket = (data: MetricData, at: number): QueueMetrics =>
    queueMetrics(data, seconds(at, at + resolution))
  const all = queueMetrics(mergeAll(records), seconds(from, to ?? now))
  return { ...seriesOf(records, ofBucket), queue, all }
}

export function kindSeries(kind: string, records: readonly MetricRecord[]): KindSeries {
  return { kind, ...seriesOf(records, kindMetrics) }
}

export function instanceSeries(instance: string, records: readonly MetricRecord[]): InstanceSeries {
  return { instance, ...seriesOf(records, instanceMetrics) }
}

export function limitSeries(limit: string, records: readonly MetricRecord[]): LimitSeries {
  return { limit, ...seriesOf(records, limitMetrics) }
}

function seriesOf<Metrics extends object>(
  records: readonly MetricRecord[],
  metrics: (data: MetricData, at: number) => Metrics,
): Series<Metrics> {
  const points = pointsOf(records).map(([at, data]) => ({ at, ...metrics(data, at) }))
  return { all: metrics(mergeAll(records), 0), points }
}

export function mergeAll(records: readonly MetricRecord[]): MetricData {
  return records.reduce<MetricData>((sum, { data }) => mergeData(sum, data), {})
}

/** Sorted by time. Merges records of the same time: a store may return one that is not rolled up yet. */
function pointsOf(records: readonly MetricRecord[]): [number, MetricData][] {
  const points = new Map<number, MetricData>()
  for (const { at, data } of records) points.set(at, mergeData(points.get(at) ?? {}, data))
  return [...points].toSorted(([a], [b]) => a - b)
}

function queueMetrics(data: MetricData, seconds: number): QueueMetrics {
  const counter = (name: Counter): number => data.counters?.[name] ?? 0
  return {
    counters: recordOf(COUNTERS, counter),
    perSecond: recordOf(COUNTERS, (name) => counter(name) / seconds),
    ...recordOf(LATENCIES, (name) => percentiles(data, name)),
    counts: recordOf(QUEUE_LEVELS, (name) => gauge(data, name)),
  }
}

function kindMetrics(data: MetricData): KindMetrics {
  return {
    ended: recordOf(ATTEMPT_ENDS, (name) => data.counters?.[name] ?? 0),
    running: percentiles(data, 'running'),
    workerMs: Math.round(sumOf(data.histograms?.['running'] ?? {})),
    byVersion: attemptsByVersion(data.counters ?? {}),
  }
}

function limitMetrics(data: MetricData): LimitMetrics {
  const byKind = new Map<string, Record<DrawCount, number>>()
  const all = recordOf(DRAWS, () => 0)
  for (const [counter, n] of Object.entries(data.counters ?? {})) {
    const found = drawOf(counter)
    if (found === null) continue
    const own = byKind.get(found.kind) ?? recordOf(DRAWS, () => 0)
    byKind.set(found.kind, own)
    own[found.draw] += n
    all[found.draw] += n
  }
  const kinds = [...byKind].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return {
    ...recordOf(LIMIT_LEVELS, (name) => gauge(data, name)),
    ...all,
    byKind: Object.fromEntries(kinds),
  }
}

function instanceMetrics(data: MetricData): InstanceMetrics {
  return {
    ...recordOf(GAUGES, (name) => gauge(data, name)),
    store: {
      ...recordOf(STORE_CLASSES, (name) => percentiles(data, `store.${name}`)),
      failures: data.counters?.['store.failures'] ?? 0,
    },
    eventsDropped: data.counters?.['eventsDropped'] ?? 0,
  }
}

export function percentiles({ histograms }: MetricData, name: string): Percentiles {
  const histogram = histograms?.[name] ?? {}
  const at = (share: number): number | null => percentile(histogram, share)
  return { count: countOf(histogram), p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

function gauge({ gauges }: MetricData, name: string): GaugeMetrics | null {
  const found = gauges?.[name]
  return found === undefined ? null : { mean: found.sum / found.count, most: found.most }
}

export function recordOf<Key extends string, Value>(
  keys: readonly Key[],
  value: (key: Key) => Value,
): Record<Key, Value> {
  return Object.fromEntries(keys.map((key) => [key, value(key)])) as Record<Key, Value>
}
