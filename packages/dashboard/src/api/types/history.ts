/** Metrics over time and lifecycle events, as the API returns them. */
import type { Duty } from './mill.ts'

interface Percentiles {
  readonly count: number
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

export interface Gauge {
  readonly mean: number
  readonly most: number
}

export const COUNTERS = [
  'enqueued',
  'replaced',
  'duplicate',
  'started',
  'done',
  'retried',
  'dead',
  'cancelled',
  'snoozed',
  'throttled',
  'timedOut',
  'interrupted',
  'reaped',
] as const
export type Counter = (typeof COUNTERS)[number]

export interface QueueMetrics {
  readonly counters: Readonly<Record<Counter, number>>
  readonly perSecond: Readonly<Record<Counter, number>>
  /** Ready until claimed, the run time of an attempt, and the time from enqueue to done. */
  readonly waiting: Percentiles
  readonly running: Percentiles
  readonly total: Percentiles
  /** Gauges, sampled every 10 s. */
  readonly counts: {
    readonly scheduled: Gauge | null
    readonly ready: Gauge | null
    readonly running: Gauge | null
    readonly dead: Gauge | null
    readonly oldestReadyMs: Gauge | null
  }
}

export interface InstanceMetrics {
  readonly cpu: Gauge | null
  readonly rssBytes: Gauge | null
  readonly heapBytes: Gauge | null
  readonly loopLagMs: Gauge | null
  readonly eventsDropped: number
}

export interface LimitMetrics {
  readonly available: Gauge | null
  readonly held: Gauge | null
  readonly granted: number
  readonly refused: number
  readonly byKind: Readonly<Record<string, { readonly granted: number; readonly refused: number }>>
}

type Points<Figures> = readonly (Figures & { readonly at: number })[]

export interface Series {
  readonly from: number
  readonly to: number | null
  readonly resolutionMs: number
  readonly queues: readonly {
    readonly queue: string
    readonly all: QueueMetrics
    readonly points: Points<QueueMetrics>
  }[]
  readonly instances: readonly {
    readonly instance: string
    readonly all: InstanceMetrics
    readonly points: Points<InstanceMetrics>
  }[]
  readonly limits: readonly {
    readonly limit: string
    readonly all: LimitMetrics
    readonly points: Points<LimitMetrics>
  }[]
}

export interface TimelineEntry {
  readonly n: number
  readonly at: number
  readonly type: string
  readonly instance: string
  readonly queue: string | null
  readonly job: string | null
  readonly data: Readonly<Record<string, unknown>>
}

export interface AuditEntry {
  readonly at: number
  readonly who: string
  readonly role: string
  readonly what: string
  readonly target: string
  readonly queue: string | null
  readonly job: string | null
  readonly before?: unknown
  readonly after?: unknown
}

/**
 * Size and limits of the database, and the resource usage of the process that answers. Null where the store
 * does not report a value.
 */
export interface Resources {
  readonly at: number
  readonly database: {
    readonly sizeBytes: number | null
    readonly walBytes: number | null
    readonly disk: { readonly freeBytes: number; readonly totalBytes: number } | null
    readonly pool: { readonly open: number; readonly busy: number; readonly waiting: number } | null
    readonly server: { readonly connections: number; readonly most: number } | null
  } | null
  readonly process: {
    readonly rssBytes: number
    readonly loopLagMs: { readonly mean: number; readonly most: number } | null
  }
}

export interface System {
  readonly store: string
  readonly version: string
  readonly node: string
  readonly database: {
    readonly server: string
    readonly sizeBytes: number
    readonly logBytes: number | null
    readonly tables: readonly {
      readonly name: string
      readonly bytes: number
      readonly rows: number
      readonly deadRows: number | null
    }[]
    readonly pinned: readonly {
      readonly pid: number
      readonly ageMs: number
      readonly user: string | null
      readonly state: string | null
      readonly query: string | null
    }[]
  } | null
  readonly migrations: {
    readonly applied: readonly { readonly number: number; readonly name: string }[]
    readonly pending: readonly { readonly number: number; readonly name: string }[]
    readonly refused: string | null
  } | null
  readonly duties: readonly (Duty & { readonly everyMs: number | null })[]
  readonly storeTimings: Readonly<Record<string, Percentiles>>
}
