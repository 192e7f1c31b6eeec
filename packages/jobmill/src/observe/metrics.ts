/**
 * Counts events by queue, kind and time bucket. It runs inside `emit`, so that no event is missed. It must
 * be cheap, because every job emits several. It also counts limit requests and accepts metrics from other
 * parts. Metrics that are not written yet keep their timestamps. If too many wait, they are merged into
 * coarser buckets.
 */
import { mergeData, type MetricData } from '../job/metric-data.ts'
import type { Platform } from '../platform/platform.ts'
import { RESOLUTIONS } from '../store/types/metrics.ts'
import { attemptsOf, versionCounters } from './attempts.ts'
import { type DrawCount, drawCounter } from './draws.ts'
import { kindScope, limitScope, queueScope } from './scopes.ts'
import { addTally, dataOf, newTally, tallies, type Tally } from './tally.ts'

export interface MetricDelta {
  /** What the metrics are about. */
  readonly scope: string
  /** On the monotonic clock. */
  readonly at: number
  /** The start of the bucket, on the wall clock of this process. */
  readonly bucketAt: number
  readonly data: MetricData
}

export type Metrics = ReturnType<typeof createMetrics>

/** The number of unwritten entries at which old ones are merged by the minute, and then by the hour. */
const MOST_WAITING = 5_000

/** The bucket that is being counted. */
interface Open {
  /** Its start, and its first and last event, on the wall clock: each event reads only one clock. */
  readonly bucketAt: number
  readonly firstAt: number
  lastAt: number
  /** The time of its first event, on the monotonic clock. */
  readonly at: number
  readonly queues: Map<string, Tally>
  /** Ends of attempts by kind. */
  readonly kinds: Map<string, Tally>
  /** Counters by limit. */
  readonly limits: Map<string, Record<string, number>>
}

const [BUCKET_MS] = RESOLUTIONS

interface MetricsOptions {
  /** The version of the application that this process runs. Null if it is unknown. */
  readonly version?: string | null
  readonly mostWaiting?: number
}

export function createMetrics(
  platform: Platform,
  { version = null, mostWaiting = MOST_WAITING }: MetricsOptions = {},
) {
  let waiting: MetricDelta[] = []
  let open: Open | null = null
  /** Totals of closed buckets. Updated once per bucket, never per event. */
  const closed = new Map<string, Tally>()

  /**
   * Buckets align with those of the database if the clocks agree. If not, only their bounds are less exact.
   */
  function begin(wall: number): Open {
    const bucketAt = wall - (wall % BUCKET_MS)
    return {
      bucketAt,
      firstAt: wall,
      lastAt: wall,
      at: platform.monotonic(),
      queues: new Map(),
      kinds: new Map(),
      limits: new Map(),
    }
  }

  function close(): void {
    if (open === null) return
    const { bucketAt, firstAt, lastAt, queues, kinds, limits } = open
    // The middle, so that a small clock error does not move it into the next bucket.
    const at = open.at + Math.max(0, lastAt - firstAt) / 2
    open = null
    for (const [queue, tally] of queues) {
      waiting.push({ scope: queueScope(queue), at, bucketAt, data: dataOf(tally) })
      addTo(closed, queue, tally)
    }
    for (const [kind, tally] of kinds)
      waiting.push({ scope: kindScope(kind), at, bucketAt, data: withVersion(dataOf(tally)) })
    for (const [limit, counters] of limits)
      waiting.push({ scope: limitScope(limit), at, bucketAt, data: { counters } })
    thin()
  }

  /** Added to each bucket and not to each event: all attempts of a process run on one version. */
  function withVersion(data: MetricData): MetricData {
    if (version === null) return data
    const { counters = {} } = data
    return { ...data, counters: { ...counters, ...versionCounters(version, attemptsOf(counters)) } }
  }

  function thin(): void {
    if (waiting.length > mostWaiting) waiting = thinned(waiting, mostWaiting / 2)
  }

  /** The current bucket. */
  function openNow(): Open {
    const wall = platform.now()
    // Also when the clock was set back.
    if (open !== null && (wall >= open.bucketAt + BUCKET_MS || wall < open.bucketAt)) close()
    open ??= begin(wall)
    open.lastAt = wall
    return open
  }

  const queueTally = (queue: string): Tally => tallyOf(openNow().queues, queue)
  // The queue of the same event was counted just before, so the bucket is current: no second clock read.
  const kindTally = (kind: string): Tally => tallyOf((open ?? openNow()).kinds, kind)

  return {
    count: tallies(queueTally, kindTally),
    /** A handler of a kind requested a limit. */
    drew: (limit: string, kind: string, draw: DrawCount) => {
      const { limits } = openNow()
      const counters = limits.get(limit) ?? {}
      limits.set(limit, counters)
      const name = drawCounter(draw, kind)
      counters[name] = (counters[name] ?? 0) + 1
    },
    /** Adds metrics from another part, with their time on both clocks. */
    add(scope: string, data: MetricData, at: number, wall: number) {
      waiting.push({ scope, at, bucketAt: wall - (wall % BUCKET_MS), data })
      thin()
    },
    /** Removes and returns the oldest entries, up to this many. */
    take(most: number): MetricDelta[] {
      close()
      return waiting.splice(0, most)
    },
    isEmpty: () => waiting.length === 0 && open === null,
    /** Totals since the start of this process by queue, written or not. */
    totals(): ReadonlyMap<string, Tally> {
      const all = new Map<string, Tally>()
      for (const [queue, tally] of closed) addTo(all, queue, tally)
      for (const [queue, tally] of open?.queues ?? []) addTo(all, queue, tally)
      return all
    },
  }
}

function tallyOf(all: Map<string, Tally>, name: string): Tally {
  let tally = all.get(name)
  if (tally === undefined) all.set(name, (tally = newTally()))
  return tally
}

function addTo(totals: Map<string, Tally>, queue: string, tally: Tally): void {
  const own = totals.get(queue) ?? newTally()
  totals.set(queue, own)
  addTally(own, tally)
}

/**
 * Merges by the minute, and if that is not enough by the hour: data that late is not viewed at a finer
 * resolution.
 */
function thinned(all: readonly MetricDelta[], most: number): MetricDelta[] {
  const [, minute, , hour] = RESOLUTIONS
  const byMinute = grouped(all, minute)
  return byMinute.length <= most ? byMinute : grouped(byMinute, hour)
}

function grouped(all: readonly MetricDelta[], size: number): MetricDelta[] {
  const groups = new Map<string, MetricDelta>()
  for (const one of all) {
    const key = `${Math.floor(one.bucketAt / size)} ${one.scope}`
    const first = groups.get(key)
    groups.set(key, first === undefined ? one : { ...first, data: mergeData(first.data, one.data) })
  }
  return [...groups.values()]
}
