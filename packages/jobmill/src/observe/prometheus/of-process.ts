/** Metrics of this process that need no query. */
import type { Usage } from '../../platform/gauges.ts'
import type { EventCounts } from '../event-hub.ts'
import type { ProcessTotals } from '../observer.ts'
import { histogramSamples } from './histogram.ts'
import { counter, type Family, gauge, histogram, type Labels } from './text.ts'

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
  const lag = (which: 'mean' | 'most') => (loopLagMs === null ? [] : [{ value: loopLagMs[which] / 1_000 }])
  return [
    gauge('info', 'Who tells this.', [{ labels: info, value: 1 }]),
    gauge('store_up', '1 when the store answered all that this scrape asked it.', [
      { value: view.isStoreUp ? 1 : 0 },
    ]),
    counter('stale_writes_total', 'Outcomes that were refused because somebody else has the job.', [
      { value: events.told['lease-lost'] ?? 0 },
    ]),
    counter('lease_losses_total', 'How often this instance was not renewed in time and lost all its jobs.', [
      { value: events.told['instance-lost'] ?? 0 },
    ]),
    counter(
      'events_dropped_total',
      'Events that were dropped because too many waited, for listeners or to be written to the timeline.',
      [{ value: events.dropped + totals.eventsDropped }],
    ),
    counter(
      'swept_rows_total',
      'Rows that passes of retain in this process deleted, by what they were.',
      [...swept].map(([outcome, value]) => ({ labels: { outcome }, value })),
    ),
    counter('store_failures_total', 'Calls to the store that failed, not counting what it refused.', [
      { value: store.failures },
    ]),
    histogram(
      'store_call_seconds',
      'How long calls to the store took, by verb, failed ones included. Bounds are met to within 4 %.',
      [...store.verbs].flatMap(([verb, times]) => histogramSamples({ verb }, times.histogram, times.sumMs)),
    ),
    gauge(
      'workers',
      'Workers that this instance has for a queue that it serves.',
      workers.map(({ queue, workers: value }) => ({ labels: { queue }, value })),
    ),
    gauge(
      'workers_busy',
      'Handlers of a queue that run in this instance.',
      workers.map(({ queue, busy: value }) => ({ labels: { queue }, value })),
    ),
    gauge(
      'event_loop_lag_seconds',
      'How late the event loop was on average in about the last 10 s.',
      lag('mean'),
    ),
    gauge(
      'event_loop_lag_max_seconds',
      'How late the event loop was at most in about the last 10 s.',
      lag('most'),
    ),
    counter('process_cpu_seconds_total', 'Processor time that this process has used.', [
      { value: usage.cpuMs / 1_000 },
    ]),
    gauge('process_resident_memory_bytes', 'Memory of this process.', [{ value: usage.rssBytes }]),
  ]
}
