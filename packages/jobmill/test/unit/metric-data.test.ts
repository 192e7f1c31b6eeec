/** Metrics that can be merged in any order, with percentiles accurate to their bucket. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  boundOf,
  bucketOf,
  countOf,
  type Histogram,
  mergeData,
  type MetricData,
  percentile,
  sumOf,
} from '../../src/job/metric-data.ts'

const name = fc.constantFrom('a', 'b', 'c')
const count = fc.integer({ min: 0, max: 1_000 })
const gauge = fc.record({ sum: fc.integer({ min: -1_000, max: 1_000 }), count, most: fc.integer() })
const histogram = fc.dictionary(fc.integer({ min: 0, max: 50 }).map(String), fc.integer({ min: 1, max: 9 }))

const data: fc.Arbitrary<MetricData> = fc.record(
  {
    counters: fc.dictionary(name, count),
    histograms: fc.dictionary(name, histogram),
    gauges: fc.dictionary(name, gauge),
  },
  { requiredKeys: [] },
)

const ms = fc.oneof(
  fc.double({ min: 0, max: 10, noNaN: true }),
  fc.double({ min: 0, max: 1e9, noNaN: true }),
  fc.integer({ min: 0, max: 100 }),
)

function histogramOf(values: readonly number[]): Histogram {
  const counts: Record<string, number> = {}
  for (const value of values) counts[bucketOf(value)] = (counts[bucketOf(value)] ?? 0) + 1
  return counts
}

test('the sum of a histogram is accurate to 2%', () => {
  fc.assert(
    fc.property(fc.array(ms, { maxLength: 50 }), (values) => {
      const sum = values.reduce((all, value) => all + value, 0)
      // All values up to 0.1 ms share a bucket.
      expect(Math.abs(sumOf(histogramOf(values)) - sum)).toBeLessThanOrEqual(
        sum * 0.021 + values.length * 0.1,
      )
    }),
  )
})

test('merging is commutative', () => {
  fc.assert(
    fc.property(data, data, (a, b) => {
      expect(mergeData(a, b)).toEqual(mergeData(b, a))
    }),
  )
})

test('merging is associative', () => {
  fc.assert(
    fc.property(data, data, data, (a, b, c) => {
      expect(mergeData(mergeData(a, b), c)).toEqual(mergeData(a, mergeData(b, c)))
    }),
  )
})

test('merging with an empty record changes nothing, and merging modifies neither input', () => {
  fc.assert(
    fc.property(data, data, (a, b) => {
      const before = structuredClone([a, b])
      expect(mergeData(a, {})).toEqual(a)
      expect(mergeData({}, a)).toEqual(a)
      mergeData(a, b)
      expect([a, b]).toEqual(before)
    }),
  )
})

test('merging adds counters, adds histograms by bucket, and keeps the highest gauge', () => {
  const a = {
    counters: { x: 1 },
    histograms: { h: { '3': 1 } },
    gauges: { g: { sum: 5, count: 1, most: 5 } },
  }
  const b = {
    counters: { x: 2, y: 1 },
    histograms: { h: { '3': 1, '9': 4 }, i: { '0': 1 } },
    gauges: { g: { sum: 2, count: 3, most: 1 } },
  }
  expect(mergeData(a, b)).toEqual({
    counters: { x: 3, y: 1 },
    histograms: { h: { '3': 2, '9': 4 }, i: { '0': 1 } },
    gauges: { g: { sum: 7, count: 4, most: 5 } },
  })
})

test('a histogram of merged values equals the merged histograms, however the values were split', () => {
  fc.assert(
    fc.property(fc.array(ms), fc.array(ms), (some, others) => {
      const merged = mergeData(
        { histograms: { h: histogramOf(some) } },
        { histograms: { h: histogramOf(others) } },
      )
      expect(merged.histograms?.['h']).toEqual(histogramOf([...some, ...others]))
      expect(countOf(merged.histograms?.['h'] ?? {})).toBe(some.length + others.length)
    }),
  )
})

test('a value is at most the bound of its bucket and above the bound of the previous one', () => {
  fc.assert(
    fc.property(ms, (value) => {
      const bucket = bucketOf(value)
      expect(Number.isInteger(bucket) && bucket >= 0).toBe(true)
      expect(value).toBeLessThanOrEqual(boundOf(bucket) * (1 + 1e-9))
      const before = bucket === 0 ? -1 : boundOf(bucket - 1) * (1 - 1e-9)
      expect(value).toBeGreaterThan(before)
    }),
  )
})

test('the bound of a bucket is in that bucket, for all buckets up to years', () => {
  for (let bucket = 0; bucket < 800; bucket += 1) expect(bucketOf(boundOf(bucket))).toBe(bucket)
})

test('a percentile is the bound of the bucket that holds the nearest-rank value', () => {
  fc.assert(
    fc.property(
      fc.array(ms, { minLength: 1, maxLength: 200 }),
      fc.constantFrom(0, 0.01, 0.5, 0.9, 0.95, 0.99, 1),
      (values, share) => {
        const ranked = values.toSorted((a, b) => a - b)
        const value = ranked[Math.max(1, Math.ceil(share * values.length)) - 1] ?? 0
        expect(percentile(histogramOf(values), share)).toBe(boundOf(bucketOf(value)))
      },
    ),
  )
})

test('a percentile is within 4% of the exact value', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 1, max: 1e7, noNaN: true }), { minLength: 1 }), (values) => {
      const median = values.toSorted((a, b) => a - b)[Math.ceil(values.length / 2) - 1] ?? 0
      const estimate = percentile(histogramOf(values), 0.5) ?? 0
      expect(estimate / median).toBeGreaterThanOrEqual(1 - 1e-9)
      expect(estimate / median).toBeLessThanOrEqual(1.04 + 1e-9)
    }),
  )
})

test('an empty histogram has no percentile', () => {
  expect(percentile({}, 0.5)).toBeNull()
  expect(countOf({})).toBe(0)
})
