/**
 * Writes the metrics and events of this process. A batch is resent under the same sequence number until its
 * write is confirmed, so a failed write loses nothing and a lost reply is not counted twice. Nothing is sent
 * when there is no data.
 */
import type { Platform } from '../platform/platform.ts'
import type { Recording } from '../store/types/metrics.ts'
import type { FullStore } from '../store/store.ts'
import type { Metrics, MetricDelta } from './metrics.ts'
import type { OwnMetrics, ProcessMetrics } from './process-metrics.ts'
import { instanceScope } from './scopes.ts'
import type { GaugeSampler } from './gauge-sampler.ts'
import type { KeptEvent, Timeline } from './timeline.ts'

interface FlusherOptions {
  readonly store: Pick<FullStore, 'metrics'>
  /** The current instance id. */
  readonly source: string
  readonly platform: Platform
  readonly metrics: Pick<Metrics, 'take' | 'isEmpty'>
  readonly timeline: Pick<Timeline, 'take' | 'isEmpty'>
  readonly process: Pick<ProcessMetrics, 'isDue' | 'sample' | 'take' | 'isEmpty'>
  readonly gauges: GaugeSampler
}

export type Flusher = ReturnType<typeof flusher>

interface Batch {
  readonly source: string
  readonly seq: number
  readonly metrics: readonly MetricDelta[]
  readonly own: readonly OwnMetrics[]
  readonly events: readonly KeptEvent[]
}

/** The maximum of each type in one recording. */
const MOST = 500

export function flusher(options: FlusherOptions) {
  const { store, platform, metrics, timeline, process, gauges } = options
  let lastSeq = 0
  let unwritten: Batch | null = null

  const isEmpty = (): boolean => metrics.isEmpty() && timeline.isEmpty() && process.isEmpty()

  function next(): Batch | null {
    if (isEmpty()) return null
    lastSeq += 1
    return {
      source: options.source,
      seq: lastSeq,
      metrics: metrics.take(MOST),
      own: process.take(MOST),
      events: timeline.take(MOST),
    }
  }

  /** Ages are computed for each try, so that late data still lands in its bucket. */
  function recordingOf({ source, seq, ...batch }: Batch): Recording {
    const now = platform.monotonic()
    const agoMs = (at: number): number => Math.max(0, Math.round(now - at))
    return {
      source,
      seq,
      deltas: batch.metrics.map(({ scope, at, data }) => ({ scope, agoMs: agoMs(at), data })),
      own: batch.own.map(({ at, ...own }) => ({ ...own, scope: instanceScope(source), agoMs: agoMs(at) })),
      events: batch.events.map(({ at, ...event }) => ({ ...event, agoMs: agoMs(at) })),
    }
  }

  return {
    /** Whether there is anything to write. */
    needed: () => unwritten !== null || process.isDue() || gauges.isDue() || !isEmpty(),
    /**
     * Returns what it wrote. Rejects if a write fails; the next pass resends it. Checks the signal between
     * recordings.
     */
    async pass(signal?: AbortSignal) {
      const counts = { recordings: 0, metrics: 0, events: 0 }
      if (process.isDue()) process.sample()
      // After the process sample, so that its reads count with the next one, and before the batch is taken,
      // so that both go into one recording.
      if (gauges.isDue()) await gauges.sample()
      for (;;) {
        const isSentAgain = unwritten !== null
        const batch = (unwritten ??= next())
        if (batch === null) return counts
        await store.metrics.record(recordingOf(batch))
        if (unwritten === batch) unwritten = null
        counts.recordings += 1
        counts.metrics += batch.metrics.length + batch.own.length
        counts.events += batch.events.length
        // New data waits for the next pass. Otherwise this pass would never end under load.
        if (signal?.aborted === true || !(isSentAgain || isFull(batch))) return counts
      }
    },
  }
}

function isFull({ metrics, own, events }: Batch): boolean {
  return metrics.length === MOST || own.length === MOST || events.length === MOST
}
