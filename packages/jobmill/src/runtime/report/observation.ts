/** `mill.metrics` and `mill.timeline`: metrics over time and recorded events of all processes. */
import { BOUNDS } from '../../job/defaults.ts'
import { type Duration, instantAt } from '../../job/duration.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { checkId, checkName, checkSoughtName } from '../../job/names.ts'
import { checkArray, checkOneOf, checkWhole } from '../../job/numbers.ts'
import { instanceScope, kindScope, limitScope, queueScope } from '../../observe/scopes.ts'
import { KEPT_TYPES } from '../../observe/timeline.ts'
import { cursorInvalid, MAY_LAG } from '../../store/types/job-list.ts'
import type { MetricRecord, TimelineEvent, TimelineQuery } from '../../store/types/metrics.ts'
import type { MillTools } from '../tools.ts'
import {
  type InstanceSeries,
  instanceSeries,
  type KindSeries,
  kindSeries,
  type LimitSeries,
  limitSeries,
  type QueueSeries,
  queueSeries,
} from './series.ts'
import { windowOf } from './metrics-window.ts'

type Instant = Date | number | string

export interface MetricsQuery {
  /** Only these queues. If any of the four filters is given, only what the filters name is read. */
  readonly queues?: readonly string[]
  /** Ids of instances. */
  readonly instances?: readonly string[]
  readonly limits?: readonly string[]
  /** Metrics of kinds are read only for kinds that are named here. */
  readonly kinds?: readonly string[]
  /** Default: the last hour. */
  readonly from?: Instant
  readonly to?: Instant
  /**
   * The length of the buckets: `'10s'`, `'1m'`, `'1h'`, or a multiple such as `'5m'`, which merges stored
   * buckets. Default: `'10s'` for a window of up to an hour, `'1m'` for up to two days, and `'1h'` for a
   * longer one. An old window gets the finest that is still kept.
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
  /** Sorted by name. Only the named kinds, without those that ran no attempt. */
  readonly kinds: readonly KindSeries[]
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

export interface TimelineEntry extends Omit<TimelineEvent, 'source' | 'data'> {
  /** The instance that reported it. */
  readonly instance: string
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

const LISTED = 50

export function observation({ opened, platform }: Pick<MillTools, 'opened' | 'platform'>): Observation {
  return {
    async metrics(query = {}) {
      checkObjectKeys(query, 'query', ['queues', 'instances', 'limits', 'kinds', 'from', 'to', 'resolution'])
      const scopes = scopesOf(query)
      const now = platform.now()
      const window = windowOf(query, now)
      const { resolution, stored, from, before } = window
      const store = await opened()
      const found = await store.metrics.read({ ...scopes, resolution: stored, from, before }, MAY_LAG)
      const records = found.map((one) => ({ ...one, at: one.at - (one.at % resolution) }))
      const shape = { ...window, now }
      return {
        from,
        to: window.to,
        resolutionMs: resolution,
        queues: byScope(records, queueScope('')).map(([name, own]) => queueSeries(name, own, shape)),
        instances: byScope(records, instanceScope('')).map(([id, own]) => instanceSeries(id, own)),
        limits: byScope(records, limitScope('')).map(([name, own]) => limitSeries(name, own)),
        kinds: byScope(records, kindScope('')).map(([name, own]) => kindSeries(name, own)),
      }
    },
    async timeline(query = {}) {
      checkObjectKeys(query, 'query', ['queue', 'job', 'types', 'from', 'to', 'limit', 'cursor'])
      listed(query.types, 'types').forEach((type, at) => checkOneOf(type, `types[${at}]`, KEPT_TYPES))
      const asked = timelineQuery(query)
      const events = await (await opened()).metrics.timeline(asked, MAY_LAG)
      return { events: events.map(entryOf), next: nextPosition(events, asked) }
    },
  }
}

/** There may be many more kinds than queues, so a query without filters leaves them in the store. */
const TYPES_OF_ALL = ['queue', 'instance', 'limit'] as const

function scopesOf(
  query: MetricsQuery,
): { readonly scopes: string[] } | { readonly types: readonly string[] } {
  const { queues, instances, limits, kinds } = query
  if ([queues, instances, limits, kinds].every((names) => names === undefined)) return { types: TYPES_OF_ALL }
  return {
    scopes: [
      ...listed(queues, 'queues').map((name, at) => queueScope(checkName(name, `queues[${at}]`))),
      ...listed(instances, 'instances').map((id, at) => instanceScope(checkId(id, `instances[${at}]`))),
      ...listed(limits, 'limits').map((name, at) => limitScope(checkName(name, `limits[${at}]`))),
      ...listed(kinds, 'kinds').map((name, at) => kindScope(checkName(name, `kinds[${at}]`))),
    ],
  }
}

function listed(value: readonly string[] = [], field: string): readonly string[] {
  return checkArray(value, field, 'Pass an array of strings') as readonly string[]
}

/** Groups records by the part of the scope after the prefix, in the order of the store. */
function byScope(records: readonly MetricRecord[], prefix: string): [string, MetricRecord[]][] {
  const own = records.filter(({ scope }) => scope.startsWith(prefix))
  return [...Map.groupBy(own, ({ scope }) => scope.slice(prefix.length))]
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

function entryOf({ source, data, ...event }: TimelineEvent): TimelineEntry {
  return { ...event, instance: source, data: JSON.parse(data) as Record<string, unknown> }
}
