/** `mill.capacity()`: whether each queue keeps up with its jobs. */
import type { Slot } from '../../store/types/duty.ts'
import { type InstanceRecord, isClaiming } from '../../store/types/instance.ts'
import type { QueueCounts, QueueRecord } from '../../store/types/queue-record.ts'
import type { DutyControl } from '../operate/duty-control.ts'
import type { Operate } from '../operate/operate.ts'
import { type Forecast, forecastOf } from './forecast.ts'
import type { Observation } from './observation.ts'
import { queueWorkers } from './queue-workers.ts'
import type { Percentiles, QueueSeries } from './series.ts'

export interface QueueCapacity {
  readonly queue: string
  /** Jobs that were enqueued, and jobs that ended, per second of the last minute. */
  readonly inPerSecond: number
  readonly outPerSecond: number
  readonly ready: number
  /** How long the oldest ready job has been ready. Null when no job is ready. */
  readonly oldestReadyMs: number | null
  /** Over the last five minutes: the time from ready to started, and the run time. */
  readonly waiting: Percentiles
  readonly running: Percentiles
  /** Running jobs, and how many can run at once in all live processes. */
  readonly busy: number
  readonly workers: number
  readonly forecast: Forecast
  /**
   * Null for a queue without `targetLatency`. It is met if the 95th percentile of the queue latency and the
   * age of the oldest ready job are at most `latencyMs`.
   */
  readonly target: { readonly latencyMs: number; readonly met: boolean } | null
}

export interface Capacity {
  /** The rates, latencies and workers of every queue, and a forecast of its backlog. Sorted by name. */
  capacity(): Promise<QueueCapacity[]>
}

const MINUTE = 60_000
/** The period of the rates: short, so that the forecast follows a burst. */
const RATES_MS = MINUTE
/** The period of the percentiles. */
const LATENCIES_MS = 5 * MINUTE
/** Processes write their metrics every 2 s, so the newest ones are incomplete. */
const WRITTEN_WITHIN_MS = 2_500
const BUCKET_MS = 10_000

interface Reads
  extends
    Pick<Operate, 'queues' | 'counts' | 'instances'>,
    Pick<DutyControl, 'slots'>,
    Pick<Observation, 'metrics'> {}

export function capacity({ now }: { readonly now: () => number }, mill: () => Reads): Capacity {
  return {
    async capacity() {
      const at = now()
      const [queues, counts, instances, slots] = await Promise.all([
        mill().queues(),
        mill().counts(),
        mill().instances(),
        mill().slots(),
      ])
      const names = queues.map(({ name }) => name)
      const from = Math.max(0, at - LATENCIES_MS)
      const { queues: series } = await mill().metrics({ queues: names, from, resolution: '10s' })
      const countsOf = new Map(counts.map((one) => [one.queue, one]))
      const seriesOf = new Map(series.map((one) => [one.queue, one]))
      return queues.map((queue) =>
        capacityOf({
          queue,
          counts: countsOf.get(queue.name),
          series: seriesOf.get(queue.name),
          workers: workersOf(queue, instances, slots),
          now: at,
        }),
      )
    },
  }
}

interface Seen {
  readonly queue: QueueRecord
  readonly counts: QueueCounts | undefined
  readonly series: QueueSeries | undefined
  readonly workers: number
  readonly now: number
}

const NONE: Percentiles = { count: 0, p50: null, p95: null, p99: null }

function capacityOf({ queue, counts, series, workers, now }: Seen): QueueCapacity {
  const { ready = 0, running = 0, oldestReadyMs = null } = counts ?? {}
  const rates = ratesOf(series, now)
  const waiting = series?.all.waiting ?? NONE
  return {
    queue: queue.name,
    ...rates,
    ready,
    oldestReadyMs,
    waiting,
    running: series?.all.running ?? NONE,
    busy: running,
    workers,
    forecast: forecastOf({ ...rates, ready }),
    target: targetOf(queue.targetLatencyMs, [waiting.p95, oldestReadyMs]),
  }
}

/** A queue without ready and started jobs meets its target. */
function targetOf(latencyMs: number | null, latencies: readonly (number | null)[]): QueueCapacity['target'] {
  if (latencyMs === null) return null
  return { latencyMs, met: latencies.every((ms) => (ms ?? 0) <= latencyMs) }
}

function ratesOf(
  series: QueueSeries | undefined,
  now: number,
): Pick<QueueCapacity, 'inPerSecond' | 'outPerSecond'> {
  const until = now - WRITTEN_WITHIN_MS
  const from = until - RATES_MS - ((until - RATES_MS) % BUCKET_MS)
  const points = (series?.points ?? []).filter(({ at }) => at >= from)
  const seconds = (until - from) / 1_000
  const perSecond = (count: (counters: (typeof points)[number]['counters']) => number): number =>
    points.reduce((sum, { counters }) => sum + count(counters), 0) / seconds
  return {
    inPerSecond: perSecond(({ enqueued }) => enqueued),
    outPerSecond: perSecond(({ done, dead, cancelled }) => done + dead + cancelled),
  }
}

function workersOf(
  { name, workers }: Pick<QueueRecord, 'name' | 'workers'>,
  instances: readonly InstanceRecord[],
  slots: readonly Slot[],
): number {
  const serving = instances.filter((one) => isClaiming(one) && one.queues.includes(name))
  // Without a process, no worker is assigned.
  if (serving.length === 0) return 0
  return queueWorkers({
    total: workers,
    instances: serving.map(({ id }) => id),
    slots: slots.filter(({ queue }) => queue === name),
  })
}
