/** Metrics of this process that need no query. */
import type { Usage } from '../../platform/gauges.ts'
import type { EventCounts } from '../event-hub.ts'
import type { ProcessTotals } from '../observer.ts'
import { counter, type Family, gauge, histogram, histogramSamples, type Labels } from './text.ts'

export interface ProcessView {
  readonly totals: Omit<ProcessTotals, 'queues'>
  readonly events: EventCounts
  readonly workers: readonly QueueWorkers[]
  readonly usage: Usage
  readonly info: Labels
  /** Whether the store answered. */
  readonly isStoreUp: boolean
}

/** The workers of this instance. */
interface QueueWorkers {
  readonly queue: string
  readonly workers: number
  readonly busy: number
}

export function processFamilies(view: ProcessView): Family[] {
  const { totals, events, workers, usage, info } = view
  const { loopLagMs, swept, store } = totals
  const lag = (which: 'mean' | 'most') => (loopLagMs === null ? null : loopLagMs[which] / 1_000)
  return [
    gauge('info', 'Identity of this process.', [{ labels: info, value: 1 }]),
    gauge('store_up', '1 when the store answered all queries of this scrape.', view.isStoreUp ? 1 : 0),
    counter(
      'stale_writes_total',
      'Outcomes that the database refused because the attempt no longer held the lease.',
      events.emitted['lease-lost'] ?? 0,
    ),
    counter(
      'lease_losses_total',
      'Number of times this instance did not renew its lease in time and lost its jobs.',
      events.emitted['instance-lost'] ?? 0,
    ),
    counter(
      'events_dropped_total',
      'Events dropped because too many were buffered, for listeners or for the timeline.',
      events.dropped + totals.eventsDropped,
    ),
    counter(
      'swept_rows_total',
      'Rows deleted by retention in this process, by type.',
      [...swept].map(([outcome, value]) => ({ labels: { outcome }, value })),
    ),
    counter(
      'store_failures_total',
      'Calls to the store that failed because of the database or an unexpected error.',
      store.failures,
    ),
    histogram(
      'store_call_seconds',
      'Latency of calls to the store, by verb, including failed calls. A value within 4% of a bucket bound may count as above it.',
      [...store.verbs].flatMap(([verb, times]) => histogramSamples({ verb }, times.histogram, times.sumMs)),
    ),
    gauge(
      'workers',
      'Workers of this instance for a queue it serves.',
      workers.map(({ queue, workers: value }) => ({ labels: { queue }, value })),
    ),
    gauge(
      'workers_busy',
      'Running handlers of a queue in this instance.',
      workers.map(({ queue, busy: value }) => ({ labels: { queue }, value })),
    ),
    gauge('event_loop_lag_seconds', 'Mean event-loop lag in about the last 10 s.', lag('mean')),
    gauge('event_loop_lag_max_seconds', 'Maximum event-loop lag in about the last 10 s.', lag('most')),
    counter('process_cpu_seconds_total', 'CPU time used by this process.', usage.cpuMs / 1_000),
    gauge('process_resident_memory_bytes', 'Resident memory of this process.', usage.rssBytes),
  ]
}
