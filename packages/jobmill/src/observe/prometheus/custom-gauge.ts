/** A gauge of the application. Its `read` is untrusted: the result is checked, and the wait is bounded. */
import { JobmillError, quote } from '../../job/errors.ts'
import type { Platform } from '../../platform/platform.ts'
import { within } from '../../platform/within.ts'
import { labelsOf, MOST_SERIES } from './custom-labels.ts'
import type { GaugeOptions, GaugeReading } from './custom-options.ts'
import type { Sample } from './text.ts'

/**
 * Returns a function that reads the gauge. It rejects when the read fails, takes too long, or returns an
 * invalid value.
 */
export function readGauge(
  platform: Platform,
  { name, labels: rules = {}, read }: GaugeOptions,
): (mostMs: number) => Promise<readonly Sample[]> {
  if (typeof read !== 'function')
    throw new JobmillError('OPTION_INVALID', 'must be a function', {
      field: 'read',
      value: quote(read),
      fix: 'Pass a function that returns a number or a list of { labels, value }',
    })
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
