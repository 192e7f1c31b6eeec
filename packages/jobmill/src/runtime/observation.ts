/** What was counted and what happened, in all processes, for whoever looks: figures over time, and the timeline. */
import { type Duration, instantAt } from '../job/duration.ts'
import { JobmillError, shown } from '../job/errors.ts'
import { checkObjectKeys } from '../job/known-keys.ts'
import { checkId, checkName } from '../job/names.ts'
import { checkOneOf } from '../job/numbers.ts'
import { instanceScope, limitScope, queueScope } from '../observe/scopes.ts'
import { KEPT_TYPES } from '../observe/timeline.ts'
import type { Platform } from '../platform/platform.ts'
import { cursorInvalid } from '../store/job-list.ts'
import type { MetricRecord, TimelineEvent } from '../store/metrics.ts'
import type { Store } from '../store/store.ts'
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
  /** Only these. When only one of the three is given, nothing of the others is read. */
  readonly queues?: readonly string[]
  /** By id. */
  readonly instances?: readonly string[]
  readonly limits?: readonly string[]
  /** The last hour unless said otherwise. */
  readonly from?: Instant
  readonly to?: Instant
  /** `'10s'`, `'1m'` or `'1h'`; left out, the finest that suits the window: up to an hour, up to two days, and beyond. */
  readonly resolution?: Duration
}

export interface Metrics {
  readonly from: number
  /** Null when the window is open at its end. */
  readonly to: number | null
  readonly resolutionMs: number
  /** By name. Buckets in which nothing happened are left out, and of one that stays as it was there is one in five minutes. */
  readonly queues: readonly QueueSeries[]
  /** By id. */
  readonly instances: readonly InstanceSeries[]
  /** By name, those that were drawn on or not full. */
  readonly limits: readonly LimitSeries[]
}

export interface TimelineRequest {
  readonly queue?: string
  readonly job?: string
  readonly types?: readonly string[]
  readonly from?: Instant
  readonly to?: Instant
  /** 1 to 500, 50 unless said otherwise. */
  readonly limit?: number
  /** `next` of the page before. */
  readonly cursor?: string
}

export interface TimelineEntry {
  /** Rises in the order of writing. */
  readonly n: number
  readonly at: number
  readonly type: string
  /** Which instance told it. */
  readonly instance: string
  readonly queue: string | null
  readonly job: string | null
  /** The other fields of the event; errors as text. */
  readonly data: Readonly<Record<string, unknown>>
}

export interface TimelinePage {
  /** The last written first. */
  readonly events: readonly TimelineEntry[]
  /** Where to go on; null at the end. */
  readonly next: string | null
}

export interface Observation {
  /** Counters, rates, percentiles and counts of queues, what limits gave, and what instances use, of all processes. */
  readonly metrics: (query?: MetricsQuery) => Promise<Metrics>
  /** What happened that no job and no attempt tells, in all processes. */
  readonly timeline: (query?: TimelineRequest) => Promise<TimelinePage>
}

export interface ObservationTools {
  /** Opens it when that did not happen yet. */
  readonly opened: () => Promise<Store>
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
      const records = await (await opened()).metrics({ ...scopes, resolution, from, before })
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
      const { from, to, cursor, limit = LISTED, ...filter } = query
      const events = await (
        await opened()
      ).timeline({
        ...filter,
        limit,
        ...(from === undefined ? {} : { from: instantAt(from, 'from') }),
        ...(to === undefined ? {} : { before: instantAt(to, 'to') }),
        ...(cursor === undefined ? {} : { beforeN: positionOf(cursor) }),
      })
      const last = events.length < limit ? undefined : events.at(-1)
      return { events: events.map(entryOf), next: last === undefined ? null : String(last.n) }
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
  if (typeof value === 'object' && value !== null && Symbol.iterator in value) return value
  throw new JobmillError('OPTION_INVALID', 'is not an array', {
    field,
    value: shown(value),
    fix: 'Put a single name into an array',
  })
}

/** What stands behind the prefix of its scope, with all its records; in the order of the store. */
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

export function positionOf(cursor: string): number {
  if (typeof cursor !== 'string' || !/^\d{1,15}$/.test(cursor)) throw cursorInvalid(cursor)
  return Number(cursor)
}

function entryOf({ n, at, type, source, queue, job, data }: TimelineEvent): TimelineEntry {
  return { n, at, type, instance: source, queue, job, data: JSON.parse(data) as Record<string, unknown> }
}
