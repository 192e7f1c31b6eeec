/** What a process saw, as it is kept: figures in buckets of time, and events that no job or attempt tells. */
import type { MetricData } from '../job/metric-data.ts'

/** Bucket sizes in ms, finest first. A bucket begins at a multiple of its size. */
export const RESOLUTIONS = [10_000, 60_000, 3_600_000] as const
export type Resolution = (typeof RESOLUTIONS)[number]

/** Figures of a queue since the last flush: added up with those of other processes. */
export interface MetricDelta {
  /** What they are about: `queue emails`. */
  readonly scope: string
  /** How long ago: the store finds the bucket by its own clock. */
  readonly agoMs: number
  readonly data: MetricData
}

/** Figures that one process keeps about itself, whole for their bucket: written again, they replace what was there. */
export interface MetricOwn {
  /** Nobody else writes it: `instance 0190…`. */
  readonly scope: string
  readonly resolution: Resolution
  readonly agoMs: number
  readonly data: MetricData
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
  /** The process. */
  readonly source: string
  /** Rises with every flush of the source: one that was written before is not written again. */
  readonly seq: number
  readonly deltas: readonly MetricDelta[]
  readonly own: readonly MetricOwn[]
  readonly events: readonly NewTimelineEvent[]
}

export interface MetricQuery {
  /** Left out: all. */
  readonly scopes?: readonly string[]
  readonly resolution: Resolution
  /** Buckets that begin at or after the first, and before the second. */
  readonly from: number
  readonly before: number
}

export interface MetricRecord {
  readonly scope: string
  readonly at: number
  readonly data: MetricData
}

export interface TimelineEvent {
  /** Rises in the order of writing. */
  readonly n: number
  readonly at: number
  readonly type: string
  readonly source: string
  readonly queue: string | null
  readonly job: string | null
  readonly data: string
}

export interface TimelineQuery {
  readonly types?: readonly string[]
  readonly queue?: string
  readonly job?: string
  readonly from?: number
  readonly before?: number
  /** 1 to 500; the newest first. */
  readonly limit: number
  /** `n` of the last event of the page before. */
  readonly beforeN?: number
}
