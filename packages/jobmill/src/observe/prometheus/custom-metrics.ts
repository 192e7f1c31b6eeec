/**
 * Application metrics: `mill.counter`, `mill.gauge`, `mill.histogram`. Counters and histograms are kept in
 * this process. A gauge is read at each scrape; its failures are counted and do not break the scrape.
 */
import { invalidValue, type JobmillError } from '../../job/errors.ts'
import type { Platform } from '../../platform/platform.ts'
import { within } from '../../platform/within.ts'
import { type CustomMetricLabels, labelsOf, MOST_SERIES, seriesOf } from './custom-labels.ts'
import {
  checkBuckets,
  checkCustomMetric,
  type CounterOptions,
  type GaugeOptions,
  type GaugeReading,
  type HistogramOptions,
  type OwnCounter,
  type OwnHistogram,
} from './custom-options.ts'
import { bucketSamples, counter, type Family, type Labels, type Sample } from './text.ts'

/** The metric functions of a mill. */
export interface CustomMetrics {
  /**
   * A counter, such as `webhooks_total`. Every series starts at 0. If the values of a label are not known in
   * advance, a series appears with its first increment.
   */
  readonly counter: <const L extends CustomMetricLabels = never>(options: CounterOptions<L>) => OwnCounter<L>
  /** A gauge, read at each scrape within 5 s. A failed read leaves it out of that scrape. */
  readonly gauge: <const L extends CustomMetricLabels = never>(options: GaugeOptions<L>) => void
  /** A histogram of observed sizes or durations, with ascending `buckets`. */
  readonly histogram: <const L extends CustomMetricLabels = never>(
    options: HistogramOptions<L>,
  ) => OwnHistogram<L>
}

export type CustomMetricTools = ReturnType<typeof customMetrics>

type Collect = (mostMs: number) => Promise<readonly Sample[]> | readonly Sample[]

export function customMetrics(platform: Platform) {
  const registered = new Map<string, Omit<Family, 'samples'> & { readonly collect: Collect }>()
  /** Includes the series names of histograms. */
  const names = new Set<string>()
  const failures = new Map<string, number>()

  function register(
    type: Family['type'],
    { name, help }: { name: string; help: string },
    collect: Collect,
  ): void {
    const own = type === 'histogram' ? ['', '_bucket', '_sum', '_count'].map((end) => name + end) : [name]
    const taken = own.find((one) => names.has(one))
    if (taken !== undefined) {
      const fix =
        'Register a metric once, where the mill is created, and reuse the returned object; or use another name'
      throw invalidValue('name', taken, 'is already registered', fix, 'OPTION_CONFLICT')
    }
    for (const one of own) names.add(one)
    registered.set(name, { name, type, help, collect })
  }

  const metrics: CustomMetrics = {
    counter(options) {
      const { name, labels = {} } = checkCustomMetric('counter', options)
      const series = seriesOf(labels, `${name}.labels`, () => ({ n: 0 }))
      register('counter', options, () =>
        series.all().map(({ labels: of, state }) => ({ labels: of, value: state.n })),
      )
      const add = (of: Labels = {}, n = 1): void => {
        if (!Number.isFinite(n) || n < 0)
          throw number(`${name}.n`, n, 'Pass a number of at least 0, or use a gauge for values that decrease')
        series.at(of).n += n
      }
      return typed({ add })
    },
    gauge(options) {
      const { name } = checkCustomMetric('gauge', options)
      const read = readGauge(platform, options)
      register('gauge', options, (mostMs) =>
        read(mostMs).catch(() => {
          failures.set(name, (failures.get(name) ?? 0) + 1)
          return []
        }),
      )
      failures.set(name, 0)
    },
    histogram(options) {
      const { name, labels = {} } = checkCustomMetric('histogram', options)
      const buckets = checkBuckets(options.buckets)
      // One more than there are bounds, for values above all of them.
      const begin = () => ({ counts: Array.from({ length: buckets.length + 1 }, () => 0), sum: 0 })
      const series = seriesOf(labels, `${name}.labels`, begin)
      register('histogram', options, () =>
        series.all().flatMap(({ labels: of, state }) => bucketSamples(of, buckets, state.counts, state.sum)),
      )
      const observe = (value: number, of: Labels = {}): void => {
        if (!Number.isFinite(value)) throw number(`${name}.value`, value, 'Pass a finite number')
        const state = series.at(of)
        const at = buckets.findIndex((bound) => value <= bound)
        const bucket = at === -1 ? buckets.length : at
        state.counts[bucket] = (state.counts[bucket] ?? 0) + 1
        state.sum += value
      }
      return typed({ observe })
    },
  }

  return {
    metrics,
    /** Never rejects. Takes as long as its gauges, at most `mostMs`. */
    families: async (mostMs: number): Promise<Family[]> => {
      const own = await Promise.all(
        [...registered.values()].map(async ({ collect, ...family }) => ({
          ...family,
          samples: await collect(mostMs),
        })),
      )
      const failed = [...failures].map(([gauge, value]) => ({ labels: { gauge }, value }))
      return [counter('gauge_failures_total', GAUGE_FAILURES, failed), ...own]
    },
  }
}

const GAUGE_FAILURES =
  'Reads of an application gauge that failed, took longer than 5 s or returned an invalid value.'

/** The types check the labels for callers. At run time they are checked on use. */
function typed(handle: object): never {
  return handle as never
}

function number(field: string, value: unknown, fix: string): JobmillError {
  return invalidValue(field, value, 'is not a valid metric value', fix, 'NUMBER_INVALID')
}

/**
 * Returns a function that reads the gauge. It rejects when the read fails, takes too long, or returns an
 * invalid value.
 */
function readGauge(
  platform: Platform,
  { name, labels: rules = {}, read }: GaugeOptions,
): (mostMs: number) => Promise<readonly Sample[]> {
  if (typeof read !== 'function') {
    const fix = 'Pass a function that returns a number or a list of { labels, value }'
    throw invalidValue('read', read, 'must be a function', fix)
  }
  let reading: Promise<GaugeReading> | null = null

  /** Concurrent scrapes share one read, and a read that hangs is not started again. */
  function readOnce(): Promise<GaugeReading> {
    reading ??= (async () => read())().finally(() => (reading = null))
    return reading
  }

  function samplesOf(given: GaugeReading): Sample[] {
    const all = typeof given === 'number' ? [{ value: given }] : given
    if (all.length > MOST_SERIES) throw new Error(`${name} returned more than ${MOST_SERIES} series`)
    const seen = new Set<string>()
    return all.map(({ labels = {}, value }: { labels?: Record<string, string>; value: number }) => {
      const own = labelsOf(rules, labels, `${name}.labels`)
      const key = JSON.stringify(Object.values(own))
      if (typeof value !== 'number' || seen.has(key))
        throw new Error(`${name} did not return a number, or returned a series twice`)
      seen.add(key)
      return { labels: own, value }
    })
  }

  return async (mostMs) => samplesOf(await within(platform, mostMs, name, readOnce()))
}
