/** Everything that watches one process: it counts and keeps what the hub tells, times the store, and brings both to the database. */
import { DEFAULTS } from '../job/defaults.ts'
import type { GaugeReading } from '../platform/gauges.ts'
import type { Platform, Timer } from '../platform/platform.ts'
import type { Store } from '../store/store.ts'
import type { EventHub } from './event-hub.ts'
import { type Metrics, createMetrics } from './metrics.ts'
import { type Flusher, flusher } from './flush.ts'
import { processMetrics } from './process-metrics.ts'
import { gaugeSampler } from './gauge-sampler.ts'
import { storeTimings, type StoreTotals } from './store-timings.ts'
import { swept as createSwept } from './swept.ts'
import type { Tally } from './tally.ts'
import { timeline as createTimeline } from './timeline.ts'

export interface ObserverOptions {
  readonly hub: Pick<EventHub, 'tap'>
  readonly store: Store
  readonly platform: Platform
  /** The id of the instance, as it is at the time. */
  readonly instance: string
  /** Whether the store is open. */
  readonly isOpen?: () => boolean
  /** Whether this process samples how queues and limits stand, which one does for all. */
  readonly samples?: () => boolean
  /** When it was last heard that something moved in the store, on the monotonic clock (default: it may have at any time). */
  readonly movedAt?: () => number
}

export interface Observer extends Flusher {
  /** The store, timed: for everything that this process asks of it. */
  readonly store: Store
  /** A handler of a kind drew on a limit. */
  readonly drew: Metrics['drew']
  /** From now on a duty calls `pass`, and the process itself is measured. */
  readonly start: () => void
  /** The store is about to be closed: nothing is written until something happens again. */
  readonly rest: () => void
  /** After the last event that is to be kept, and before the store is closed: writes what is left. Rejects when it cannot. */
  readonly stop: () => Promise<void>
  /** What this process knows of itself, without a look at the store. */
  readonly totals: () => ProcessTotals
}

/** Since the start of this process: no count in here goes down, whatever was written meanwhile. */
export interface ProcessTotals {
  readonly queues: ReadonlyMap<string, Tally>
  readonly store: StoreTotals
  /** Rows that `retain` deleted, by what they were. */
  readonly swept: ReadonlyMap<string, number>
  /** Events for the timeline that did not fit. */
  readonly eventsDropped: number
  /** Of about the last 10 s; null when it is not known. */
  readonly loopLagMs: GaugeReading['loopLagMs'] | null
}

export function observer(options: ObserverOptions): Observer {
  const { hub, store: plain, platform, isOpen = () => true } = options
  const { samples = () => false, movedAt = () => Infinity } = options
  const timings = storeTimings(platform)
  const store = timings.around(plain)
  const metrics = createMetrics(platform)
  const timeline = createTimeline(platform)
  const swept = createSwept()
  const process = processMetrics({ platform, timings: timings.take, dropped: timeline.dropped })
  const flush = flusher({
    store,
    get source() {
      return options.instance
    },
    platform,
    metrics,
    timeline,
    process,
    // Not in the last pass: a stop waits for no more than it has to.
    gauges: gaugeSampler({
      store,
      platform,
      metrics,
      isMine: () => lifecycle === 'started' && samples(),
      movedAt,
    }),
  })
  let lifecycle: 'waiting' | 'started' | 'stopped' = 'waiting'
  let timer: Timer | null = null

  hub.tap((type, event) => {
    metrics.count(type, event)
    timeline.keep(type, event)
    swept.count(type, event)
    passSoon()
  })

  /** A process that only enqueues has no duties: it writes a while after something happened, and does not stay alive for that. */
  function passSoon(): void {
    if (lifecycle !== 'waiting' || timer !== null || !isOpen() || !flush.needed()) return
    timer = platform.timer(DEFAULTS.flushEveryMs, passNow, { unref: true })
  }

  function passNow(): void {
    flush.pass().then(passed, passed)
  }

  function passed(): void {
    timer = null
    passSoon()
  }

  function rest(): void {
    timer?.cancel()
    timer = null
  }

  return {
    ...flush,
    store,
    drew: metrics.drew,
    rest,
    totals: () => ({
      queues: metrics.totals(),
      store: timings.totals(),
      swept: swept.totals,
      eventsDropped: timeline.dropped(),
      loopLagMs: process.last()?.loopLagMs ?? null,
    }),
    start() {
      if (lifecycle !== 'waiting') return
      lifecycle = 'started'
      rest()
      process.start()
    },
    async stop() {
      lifecycle = 'stopped'
      rest()
      process.stop()
      await flush.pass()
    },
  }
}
