/** Metrics in time buckets, and timeline events that no job or attempt records. */
import type { MetricData } from '../../job/metric-data.ts'

/** Bucket sizes in ms, finest first. A bucket begins at a multiple of its size. */
export const RESOLUTIONS = [10_000, 60_000, 300_000, 3_600_000] as const
export type Resolution = (typeof RESOLUTIONS)[number]

/** Metrics of a queue, kind or limit since the last flush, added to those of other processes. */
export interface MetricDelta {
  /** The subject: `queue emails`. */
  readonly scope: string
  /** Age of the metrics. The store computes the bucket with its own clock. */
  readonly agoMs: number
  readonly data: MetricData
}

/** Metrics of one process about itself, complete for their bucket. A later write replaces an earlier one. */
export interface MetricOwn extends MetricDelta {
  /** Written by one process only: `instance 0190…`. */
  readonly scope: string
  readonly resolution: Resolution
}

export interface NewTimelineEvent {
  readonly type: string
  readonly agoMs: number
  readonly queue: string | null
  readonly job: string | null
  /** JSON text of an object. */
  readonly data: string
}

export interface Recording {
  /** The id of the process. */
  readonly source: string
  /** Rises with every flush of the source. The store ignores a number that it already stored. */
  readonly seq: number
  readonly deltas: readonly MetricDelta[]
  readonly own: readonly MetricOwn[]
  readonly events: readonly NewTimelineEvent[]
}

export interface MetricQuery {
  /** Defaults to all. */
  readonly scopes?: readonly string[]
  /** Only scopes of these types, which are their first words. Defaults to all. */
  readonly types?: readonly string[]
  readonly resolution: Resolution
  /** Buckets that begin at or after `from`, and before `before`. */
  readonly from: number
  readonly before: number
}

export interface MetricRecord extends Omit<MetricDelta, 'agoMs'> {
  readonly at: number
}

export interface TimelineEvent extends Omit<NewTimelineEvent, 'agoMs'> {
  /** Rises in the order of insertion. */
  readonly n: number
  readonly at: number
  readonly source: string
}

export interface TimelineQuery {
  readonly types?: readonly string[]
  readonly queue?: string
  readonly job?: string
  readonly from?: number
  readonly before?: number
  /** 1 to 500; newest first. */
  readonly limit: number
  /** `n` of the last event of the previous page. */
  readonly beforeN?: number
}
