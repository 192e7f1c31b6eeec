/**
 * Counters, histograms and gauges that can be merged over time and over processes. The bounds of histogram
 * buckets grow by 4%, so percentiles are accurate to 4% however many histograms are merged.
 */

export interface MetricData {
  readonly counters?: Readonly<Record<string, number>>
  readonly histograms?: Readonly<Record<string, Histogram>>
  readonly gauges?: Readonly<Record<string, Gauge>>
}

/** Counts by bucket, without the empty ones. */
export type Histogram = Readonly<Record<string, number>>

export interface Gauge {
  readonly sum: number
  readonly count: number
  readonly most: number
}

/** Bucket 0 holds everything up to this many ms. */
const LEAST_MS = 0.1
const GROWTH = 1.04
const LOG_GROWTH = Math.log(GROWTH)

export function bucketOf(ms: number): number {
  return ms <= LEAST_MS ? 0 : Math.ceil(Math.log(ms / LEAST_MS) / LOG_GROWTH - 1e-9)
}

/** The largest value that falls into a bucket. */
export function boundOf(bucket: number): number {
  return LEAST_MS * GROWTH ** bucket
}

export function countOf(histogram: Histogram): number {
  return Object.values(histogram).reduce((sum, n) => sum + n, 0)
}

/** The sum of all values, accurate to 2%: each counts as the middle of its bucket. */
export function sumOf(histogram: Histogram): number {
  return Object.entries(histogram).reduce(
    (sum, [bucket, n]) => sum + (n * (boundOf(Number(bucket)) + boundOf(Number(bucket) - 1))) / 2,
    0,
  )
}

/**
 * The bound of the bucket that reaches this share of all values (nearest rank); null for an empty histogram.
 */
export function percentile(histogram: Histogram, share: number): number | null {
  const buckets = Object.entries(histogram)
    .map(([bucket, n]) => [Number(bucket), n] as const)
    .toSorted(([a], [b]) => a - b)
  const rank = Math.max(1, Math.ceil(share * countOf(histogram)))
  let seen = 0
  for (const [bucket, n] of buckets) {
    seen += n
    if (seen >= rank) return boundOf(bucket)
  }
  return null
}

export function mergeData(a: MetricData, b: MetricData): MetricData {
  const merged = {
    counters: mergeBy(a.counters, b.counters, add),
    histograms: mergeBy(a.histograms, b.histograms, (x, y) => mergeBy(x, y, add) ?? {}),
    gauges: mergeBy(a.gauges, b.gauges, mergeGauge),
  }
  return Object.fromEntries(Object.entries(merged).filter(([, part]) => part !== undefined))
}

function add(a: number, b: number): number {
  return a + b
}

function mergeGauge(a: Gauge, b: Gauge): Gauge {
  return { sum: a.sum + b.sum, count: a.count + b.count, most: Math.max(a.most, b.most) }
}

function mergeBy<T>(
  a: Readonly<Record<string, T>> | undefined,
  b: Readonly<Record<string, T>> | undefined,
  merge: (x: T, y: T) => T,
): Readonly<Record<string, T>> | undefined {
  if (a === undefined || b === undefined) return a ?? b
  const merged: Record<string, T> = { ...a }
  for (const [key, value] of Object.entries(b)) {
    const known = merged[key]
    merged[key] = known === undefined ? value : merge(known, value)
  }
  return merged
}
