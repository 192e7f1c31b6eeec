/**
 * Metrics of this process: resource usage and store latency. One sample per 10 s bucket. The current minute
 * and hour are aggregated here and written whole each time, so they need no roll-up.
 */
import { DEFAULTS } from '../job/defaults.ts'
import { type Gauge, mergeData, type MetricData } from '../job/metric-data.ts'
import type { GaugeReading, Gauges } from '../platform/gauges.ts'
import type { Platform } from '../platform/platform.ts'
import { type MetricOwn, type Resolution, RESOLUTIONS } from '../store/types/metrics.ts'

export interface OwnMetrics extends Omit<MetricOwn, 'agoMs' | 'scope'> {
  /** On the monotonic clock. */
  readonly at: number
}

export type ProcessMetrics = ReturnType<typeof processMetrics>

interface ProcessMetricsOptions {
  readonly platform: Platform
  /** Store timings since the last call. */
  readonly timings: () => MetricData
  /** Events dropped so far. */
  readonly dropped: () => number
}

export const GAUGES = ['cpu', 'rssBytes', 'heapBytes', 'loopLagMs'] as const

/** About two hours of unwritten samples. Beyond that the oldest are dropped. */
const MOST_WAITING = 1_000

export function processMetrics({ platform, timings, dropped }: ProcessMetricsOptions) {
  const every = DEFAULTS.gaugeEveryMs
  const running = new Map<Resolution, { readonly bucketAt: number; readonly data: MetricData }>()
  const waiting = new Map<string, OwnMetrics>()
  let gauges: Gauges | null = null
  let last: GaugeReading | null = null
  let sampledAt = -1
  let droppedBefore = 0

  function merge(resolution: Resolution, wall: number, data: MetricData): void {
    const bucketAt = wall - (wall % resolution)
    const before = running.get(resolution)
    const merged = before?.bucketAt === bucketAt ? mergeData(before.data, data) : data
    running.set(resolution, { bucketAt, data: merged })
    // Dates the sample to the middle of its 10 s bucket. The database then puts it into the same bucket even
    // if its clock differs by a few seconds; in the wrong bucket it would overwrite another sample.
    const at = platform.monotonic() - (wall % every) + every / 2
    waiting.set(`${resolution} ${bucketAt}`, { resolution, at, data: merged })
    for (const [oldest] of waiting) {
      if (waiting.size <= MOST_WAITING) break
      waiting.delete(oldest)
    }
  }

  function counted(): MetricData {
    const more = dropped() - droppedBefore
    droppedBefore += more
    return more === 0 ? {} : { counters: { eventsDropped: more } }
  }

  return {
    /** Starts and stops measuring. Repeated calls have no effect. */
    start: () => void (gauges ??= platform.gauges()),
    stop() {
      gauges?.stop()
      gauges = null
      last = null
    },
    /** Whether a sample is due. */
    isDue() {
      const wall = platform.now()
      // Due once per 10 s bucket, in its second half: passes do not run at exact times.
      return gauges !== null && wall % every >= every / 2 && wall - (wall % every) !== sampledAt
    },
    sample() {
      if (gauges === null) return
      const wall = platform.now()
      sampledAt = wall - (wall % every)
      last = gauges.read()
      const data = mergeData(mergeData(gaugeData(last), timings()), counted())
      for (const resolution of RESOLUTIONS) merge(resolution, wall, data)
    },
    /** The last sample, covering about 10 s. Null before the first one and while not measuring. */
    last: () => last,
    /** Removes and returns the oldest entries, up to this many. */
    take(most: number) {
      const taken = [...waiting].slice(0, most)
      for (const [key] of taken) waiting.delete(key)
      return taken.map(([, own]) => own)
    },
    isEmpty: () => waiting.size === 0,
  }
}

function gaugeData({ cpu, rssBytes, heapBytes, loopLagMs }: GaugeReading): MetricData {
  return {
    gauges: {
      cpu: one(cpu),
      rssBytes: one(rssBytes),
      heapBytes: one(heapBytes),
      loopLagMs: one(loopLagMs.mean, loopLagMs.most),
    },
  }
}

function one(value: number, most = value): Gauge {
  return { sum: value, count: 1, most }
}
