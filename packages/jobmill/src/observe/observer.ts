/**
 * Observes one process: counts and keeps events, times store calls, and writes the results to the database.
 */
import { DEFAULTS } from '../job/defaults.ts'
import type { EventTable } from '../job/events.ts'
import type { Platform, Timer } from '../platform/platform.ts'
import type { FullStore } from '../store/store.ts'
import type { EventHub, Tap } from './event-hub.ts'
import { flusher } from './flush.ts'
import { gaugeSampler } from './gauge-sampler.ts'
import { createMetrics } from './metrics.ts'
import { processMetrics } from './process-metrics.ts'
import { storeTimings } from './store-timings.ts'
import { timeline as createTimeline } from './timeline.ts'

interface ObserverOptions {
  readonly hub: Pick<EventHub, 'tap'>
  readonly store: FullStore
  readonly platform: Platform
  /** The current instance id. */
  readonly instance: string
  /** The version of the application. Null if it is unknown. */
  readonly version?: string | null
  /** Whether the store is open. */
  readonly isOpen?: () => boolean
  /** Whether this process samples queue and limit gauges for the cluster. */
  readonly samples?: () => boolean
  /** When jobs last changed in the store, on the monotonic clock. By default they may change at any time. */
  readonly movedAt?: () => number
}

export type Observer = ReturnType<typeof observer>

export type ProcessTotals = ReturnType<Observer['totals']>

export function observer(options: ObserverOptions) {
  const { hub, store: plain, platform, version = null, isOpen = () => true } = options
  const { samples = () => false, movedAt = () => Infinity } = options
  const timings = storeTimings(platform)
  const store = timings.around(plain)
  const metrics = createMetrics(platform, { version })
  const timeline = createTimeline(platform)
  const swept = sweepCounter()
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
    // Not in the last pass: a stop should wait for as little as possible.
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

  /**
   * A process that only enqueues has no duties. It writes shortly after an event, on a timer that does not
   * keep it alive.
   */
  function passSoon(): void {
    if (lifecycle !== 'waiting' || timer !== null || !isOpen() || !flush.needed()) return
    timer = platform.timer(DEFAULTS.flushEveryMs, passNow, { unref: true, recurring: true })
  }

  function passNow(): void {
    flush.pass().then(passed, passed)
  }

  function passed(): void {
    timer = null
    passSoon()
  }

  /** The store is about to close: nothing is written until the next event. */
  function rest(): void {
    timer?.cancel()
    timer = null
  }

  return {
    ...flush,
    /** The timed store, for all calls of this process. */
    store,
    drew: metrics.drew,
    rest,
    /**
     * What this process knows about itself, without a query: totals since its start. No count decreases,
     * whatever was written.
     */
    totals: () => ({
      queues: metrics.totals(),
      store: timings.totals(),
      /** Rows that `retain` deleted, by type. */
      swept: swept.totals as ReadonlyMap<string, number>,
      /** Timeline events that were dropped because the buffer was full. */
      eventsDropped: timeline.dropped(),
      /** The event loop lag over about the last 10 s. Null when unknown. */
      loopLagMs: process.last()?.loopLagMs ?? null,
    }),
    /** From now on a duty calls `pass`, and the process itself is measured. */
    start() {
      if (lifecycle !== 'waiting') return
      lifecycle = 'started'
      rest()
      process.start()
    },
    /**
     * Writes the remaining data. Call it after the last event to keep and before the store closes. Rejects if
     * the write fails.
     */
    async stop() {
      lifecycle = 'stopped'
      rest()
      process.stop()
      await flush.pass()
    },
  }
}

export function sweepCounter() {
  const totals = new Map<string, number>()
  const count: Tap = (type, event) => {
    if (type !== 'duty-done') return
    const { duty, counts } = event as EventTable['duty-done']
    if (duty !== 'retain') return
    // Jobs are counted by their state. Their sum would count each of them twice.
    const { jobs: _, ...rows } = counts
    for (const [what, n] of Object.entries(rows)) totals.set(what, (totals.get(what) ?? 0) + n)
  }
  return { totals, count }
}
