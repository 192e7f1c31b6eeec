/**
 * Converts internal histograms, whose bounds grow by 4%, to Prometheus: cumulative, at a few fixed bounds. A
 * value within 4% of a bound may count as above it. Sum and count are exact.
 */
import { boundOf, type Histogram } from '../../job/metric-data.ts'
import type { Labels, Sample } from './text.ts'

const BOUNDS_S = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800,
] as const

export function histogramSamples(labels: Labels, histogram: Histogram = {}, sumMs = 0): Sample[] {
  const buckets = Object.entries(histogram)
    .map(([bucket, n]) => ({ upToMs: boundOf(Number(bucket)), n }))
    .toSorted((a, b) => a.upToMs - b.upToMs)
  const samples: Sample[] = []
  let count = 0
  let at = 0
  const upTo = (ms: number): number => {
    for (let next = buckets[at]; next !== undefined && next.upToMs <= ms; next = buckets[at]) {
      count += next.n
      at += 1
    }
    return count
  }
  for (const bound of BOUNDS_S) {
    samples.push({
      suffix: '_bucket',
      labels: { ...labels, le: String(bound) },
      value: upTo(bound * 1_000),
    })
  }
  const all = upTo(Number.POSITIVE_INFINITY)
  return [
    ...samples,
    { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: all },
    { suffix: '_sum', labels, value: sumMs / 1_000 },
    { suffix: '_count', labels, value: all },
  ]
}
