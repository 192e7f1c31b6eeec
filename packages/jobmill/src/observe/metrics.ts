/**
 * Counts what happens, by queue and by time, from the events of this process: inside `emit`, so that none is missed, and cheaply, because every job comes by
 * here several times. Beside it, what handlers drew on limits, and what others bring. What is not written for a while keeps its time, and takes less and less
 * room.
 */
import { mergeData, type MetricData } from '../job/metric-data.ts'
import type { Platform } from '../platform/platform.ts'
import { RESOLUTIONS } from '../store/metrics.ts'
import { type DrawCount, drawCounter } from './draws.ts'
import type { Tap } from './event-hub.ts'
import { limitScope, queueScope } from './scopes.ts'
import { addTally, dataOf, newTally, tallies, type Tally } from './tally.ts'

export interface MetricDelta {
  /** What it is about. */
  readonly scope: string
  /** On the monotonic clock. */
  readonly at: number
  /** When its bucket began, on the wall clock of this process. */
  readonly bucketAt: number
  readonly data: MetricData
}

export interface Metrics {
  readonly count: Tap
  /** A handler of a kind drew on a limit. */
  readonly drew: (limit: string, kind: string, draw: DrawCount) => void
  /** Figures that somebody else made, of a moment on both clocks. */
  readonly add: (scope: string, data: MetricData, at: number, wall: number) => void
  /** The oldest, at most so many. They are no longer here then. */
  readonly take: (most: number) => MetricDelta[]
  readonly isEmpty: () => boolean
  /** All that was counted since the start of this process, by queue, whether it is written or not. */
  readonly totals: () => ReadonlyMap<string, Tally>
}

/** Figures that wait to be written before old ones are put together by the minute, and then by the hour. */
const MOST_WAITING = 5_000

/** A bucket that is being counted. */
interface Open {
  /** Where it begins, and when it was first and last counted in, on the wall clock: one clock is read for each event. */
  readonly bucketAt: number
  readonly firstAt: number
  lastAt: number
  /** When it was first counted in, on the monotonic clock. */
  readonly at: number
  readonly queues: Map<string, Tally>
  /** Counters by limit. */
  readonly limits: Map<string, Record<string, number>>
}

const [BUCKET_MS] = RESOLUTIONS

export function createMetrics(platform: Platform, mostWaiting: number = MOST_WAITING): Metrics {
  let waiting: MetricDelta[] = []
  let open: Open | null = null
  /** Of the buckets that were closed: added to once for each bucket, and never for each event. */
  const closed = new Map<string, Tally>()

  /** Buckets begin where those of the database do if the clocks agree; if they do not, nothing but the bounds is less sharp. */
  function begin(wall: number): Open {
    const bucketAt = wall - (wall % BUCKET_MS)
    return {
      bucketAt,
      firstAt: wall,
      lastAt: wall,
      at: platform.monotonic(),
      queues: new Map(),
      limits: new Map(),
    }
  }

  function close(): void {
    if (open === null) return
    const { bucketAt, firstAt, lastAt, queues, limits } = open
    // The middle, so that a clock that is a little off moves nothing into the next bucket.
    const at = open.at + Math.max(0, lastAt - firstAt) / 2
    open = null
    for (const [queue, tally] of queues) {
      waiting.push({ scope: queueScope(queue), at, bucketAt, data: dataOf(tally) })
      addTo(closed, queue, tally)
    }
    for (const [limit, counters] of limits)
      waiting.push({ scope: limitScope(limit), at, bucketAt, data: { counters } })
    thin()
  }

  function thin(): void {
    if (waiting.length > mostWaiting) waiting = thinned(waiting, mostWaiting / 2)
  }

  /** The bucket of this moment. */
  function openNow(): Open {
    const wall = platform.now()
    // Also when the clock was set back.
    if (open !== null && (wall >= open.bucketAt + BUCKET_MS || wall < open.bucketAt)) close()
    open ??= begin(wall)
    open.lastAt = wall
    return open
  }

  function tallyOf(queue: string): Tally {
    const { queues } = openNow()
    let tally = queues.get(queue)
    if (tally === undefined) queues.set(queue, (tally = newTally()))
    return tally
  }

  return {
    count: tallies(tallyOf),
    drew(limit, kind, draw) {
      const { limits } = openNow()
      const counters = limits.get(limit) ?? {}
      limits.set(limit, counters)
      const name = drawCounter(draw, kind)
      counters[name] = (counters[name] ?? 0) + 1
    },
    add(scope, data, at, wall) {
      waiting.push({ scope, at, bucketAt: wall - (wall % BUCKET_MS), data })
      thin()
    },
    take(most) {
      close()
      return waiting.splice(0, most)
    },
    isEmpty: () => waiting.length === 0 && open === null,
    totals() {
      const all = new Map<string, Tally>()
      for (const [queue, tally] of closed) addTo(all, queue, tally)
      for (const [queue, tally] of open?.queues ?? []) addTo(all, queue, tally)
      return all
    },
  }
}

function addTo(totals: Map<string, Tally>, queue: string, tally: Tally): void {
  const own = totals.get(queue) ?? newTally()
  totals.set(queue, own)
  addTally(own, tally)
}

/** By the minute, and if those are still too many by the hour: what is that late is looked at in no finer view. */
function thinned(all: readonly MetricDelta[], most: number): MetricDelta[] {
  const [, minute, hour] = RESOLUTIONS
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
