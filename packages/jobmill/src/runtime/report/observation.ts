/** `mill.metrics` and `mill.timeline`: metrics over time and recorded events of all processes. */
import { BOUNDS } from '../../job/defaults.ts'
import { type Duration, instantAt } from '../../job/duration.ts'
import { JobmillError, quote } from '../../job/errors.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { checkId, checkName, checkSoughtName } from '../../job/names.ts'
import { checkOneOf, checkWhole } from '../../job/numbers.ts'
import { instanceScope, limitScope, queueScope } from '../../observe/scopes.ts'
import { KEPT_TYPES } from '../../observe/timeline.ts'
import type { Platform } from '../../platform/platform.ts'
import { cursorInvalid } from '../../store/types/job-list.ts'
import type { MetricRecord, TimelineEvent, TimelineQuery } from '../../store/types/metrics.ts'
import type { FullStore } from '../../store/store.ts'
import {
  type InstanceSeries,
  instanceSeries,
  type LimitSeries,
  limitSeries,
  type QueueSeries,
  queueSeries,
} from './series.ts'
import { windowOf } from './metrics-window.ts'

type Instant = Date | number | string

export interface MetricsQuery {
  /** Only these queues. If only one of the three filters is given, the other two scopes are not read. */
  readonly queues?: readonly string[]
  /** By id. */
  readonly instances?: readonly string[]
  readonly limits?: readonly string[]
  /** Default: the last hour. */
  readonly from?: Instant
  readonly to?: Instant
  /**
   * `'10s'`, `'1m'` or `'1h'`. Default: the finest that suits the window (up to an hour, up to two days,
   * longer).
   */
  readonly resolution?: Duration
}

export interface Metrics {
  readonly from: number
  /** Null when the window has no end. */
  readonly to: number | null
  readonly resolutionMs: number
  /**
   * Sorted by name. Buckets without activity are left out; a queue whose values do not change has one bucket
   * per minute, or one in five minutes while nothing is ready or running.
   */
  readonly queues: readonly QueueSeries[]
  /** Sorted by id. */
  readonly instances: readonly InstanceSeries[]
  /** Sorted by name. Only limits that were used or not full. */
  readonly limits: readonly LimitSeries[]
}

export interface TimelineRequest {
  readonly queue?: string
  readonly job?: string
  readonly types?: readonly string[]
  readonly from?: Instant
  readonly to?: Instant
  /** 1 to 500, default 50. */
  readonly limit?: number
  /** `next` of the previous page. */
  readonly cursor?: string
}

export interface TimelineEntry {
  /** Rises in the order of writing. */
  readonly n: number
  readonly at: number
  readonly type: string
  /** The instance that reported it. */
  readonly instance: string
  readonly queue: string | null
  readonly job: string | null
  /** The other fields of the event, with errors as text. */
  readonly data: Readonly<Record<string, unknown>>
}

interface TimelinePage {
  /** Newest first. */
  readonly events: readonly TimelineEntry[]
  /** The cursor of the next page. Null at the end. */
  readonly next: string | null
}

export interface Observation {
  /** Counters, rates, percentiles and gauges of queues, limits and instances, across all processes. */
  readonly metrics: (query?: MetricsQuery) => Promise<Metrics>
  /** Events of all processes that no job or attempt records, and manual changes (`audit`). */
  readonly timeline: (query?: TimelineRequest) => Promise<TimelinePage>
}

export interface ObservationTools {
  /** Opens the store if it is not open yet. */
  readonly opened: () => Promise<FullStore>
  readonly platform: Platform
}

const LISTED = 50

export function observation({ opened, platform }: ObservationTools): Observation {
  return {
    async metrics(query = {}) {
      checkObjectKeys(query, 'query', ['queues', 'instances', 'limits', 'from', 'to', 'resolution'])
      const scopes = scopesOf(query)
      const now = platform.now()
      const window = windowOf(query, now)
      const { resolution, from, before } = window
      const records = await (await opened()).metrics.read({ ...scopes, resolution, from, before })
      const shape = { ...window, now }
      return {
        from,
        to: window.to,
        resolutionMs: resolution,
        queues: byScope(records, queueScope('')).map(([name, own]) => queueSeries(name, own, shape)),
        instances: byScope(records, instanceScope('')).map(([id, own]) => instanceSeries(id, own)),
        limits: byScope(records, limitScope('')).map(([name, own]) => limitSeries(name, own)),
      }
    },
    async timeline(query = {}) {
      checkObjectKeys(query, 'query', ['queue', 'job', 'types', 'from', 'to', 'limit', 'cursor'])
      listed(query.types, 'types').forEach((type, at) => checkOneOf(type, `types[${at}]`, KEPT_TYPES))
      const asked = timelineQuery(query)
      const events = await (await opened()).metrics.timeline(asked)
      return { events: events.map(entryOf), next: nextPosition(events, asked) }
    },
  }
}

function scopesOf({ queues, instances, limits }: MetricsQuery): { scopes?: string[] } {
  if (queues === undefined && instances === undefined && limits === undefined) return {}
  return {
    scopes: [
      ...listed(queues, 'queues').map((name, at) => queueScope(checkName(name, `queues[${at}]`))),
      ...listed(instances, 'instances').map((id, at) => instanceScope(checkId(id, `instances[${at}]`))),
      ...listed(limits, 'limits').map((name, at) => limitScope(checkName(name, `limits[${at}]`))),
    ],
  }
}

function listed(value: readonly string[] = [], field: string): readonly string[] {
  if (Array.isArray(value)) return value as readonly string[]
  throw new JobmillError('OPTION_INVALID', 'must be an array', {
    field,
    value: quote(value),
    fix: 'Pass an array of strings',
  })
}

/** Groups records by the part of the scope after the prefix, in the order of the store. */
function byScope(records: readonly MetricRecord[], prefix: string): [string, MetricRecord[]][] {
  const groups = new Map<string, MetricRecord[]>()
  for (const record of records) {
    if (!record.scope.startsWith(prefix)) continue
    const name = record.scope.slice(prefix.length)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [record])
    else group.push(record)
  }
  return [...groups]
}

/** The query of the store for what a caller asked. */
export function timelineQuery(given: TimelineRequest): TimelineQuery {
  const { from, to, cursor, limit = LISTED, queue, job, types } = given
  return {
    limit: checkWhole(limit, 'limit', { least: 1, most: BOUNDS.pageLimit }),
    ...(types === undefined ? {} : { types }),
    ...(queue === undefined ? {} : { queue: checkSoughtName(queue, 'query.queue') }),
    ...(job === undefined ? {} : { job: checkId(job, 'job') }),
    ...(from === undefined ? {} : { from: instantAt(from, 'from') }),
    ...(to === undefined ? {} : { before: instantAt(to, 'to') }),
    ...(cursor === undefined ? {} : { beforeN: positionOf(cursor) }),
  }
}

/** The cursor of the next page. Null at the end. */
export function nextPosition(events: readonly TimelineEvent[], { limit }: TimelineQuery): string | null {
  const last = events.length < limit ? undefined : events.at(-1)
  return last === undefined ? null : String(last.n)
}

function positionOf(cursor: string): number {
  if (typeof cursor !== 'string' || !/^\d{1,15}$/.test(cursor)) throw cursorInvalid(cursor)
  return Number(cursor)
}

function entryOf({ n, at, type, source, queue, job, data }: TimelineEvent): TimelineEntry {
  return { n, at, type, instance: source, queue, job, data: JSON.parse(data) as Record<string, unknown> }
}
