/**
 * Counts what happens, by queue and by time, from the events of this process: inside `emit`, so that none is missed, and cheaply, because every job comes by
 * here several times. What is not written for a while keeps its time, and takes less and less room.
 */
import type { EventTable, EventType } from '../job/events.ts'
import { bucketOf, mergeData, type MetricData } from '../job/metric-data.ts'
import type { Platform } from '../platform/platform.ts'
import { RESOLUTIONS } from '../store/metrics.ts'
import type { Tap } from './event-hub.ts'

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

/** Ready until claimed, the run of an attempt however it ended, and from enqueue to done. */
export const LATENCIES = ['waiting', 'running', 'total'] as const
export type Latency = (typeof LATENCIES)[number]

export interface QueueDelta {
  readonly queue: string
  /** On the monotonic clock. */
  readonly at: number
  /** When its bucket began, on the wall clock of this process. */
  readonly bucketAt: number
  readonly data: MetricData
}

export interface Figures {
  readonly count: Tap
  /** The oldest, at most so many. They are no longer here then. */
  readonly take: (most: number) => QueueDelta[]
  readonly isEmpty: () => boolean
}

/** Figures that wait to be written before old ones are put together by the minute, and then by the hour. */
const MOST_WAITING = 5_000

/** Of one queue, since its bucket began or since the last look. */
interface Tally {
  readonly counters: Partial<Record<Counter, number>>
  readonly histograms: Partial<Record<Latency, Record<number, number>>>
}

/** A bucket that is being counted. */
interface Open {
  /** Where it begins, and when it was first and last counted in, on the wall clock: one clock is read for each event. */
  readonly bucketAt: number
  readonly firstAt: number
  lastAt: number
  /** When it was first counted in, on the monotonic clock. */
  readonly at: number
  readonly queues: Map<string, Tally>
}

const [BUCKET_MS] = RESOLUTIONS

export function figures(platform: Platform, mostWaiting: number = MOST_WAITING): Figures {
  let waiting: QueueDelta[] = []
  let open: Open | null = null

  /** Buckets begin where those of the database do if the clocks agree; if they do not, nothing but the bounds is less sharp. */
  function begin(wall: number): Open {
    const bucketAt = wall - (wall % BUCKET_MS)
    return { bucketAt, firstAt: wall, lastAt: wall, at: platform.monotonic(), queues: new Map() }
  }

  function close(): void {
    if (open === null) return
    const { bucketAt, firstAt, lastAt, queues } = open
    // The middle, so that a clock that is a little off moves nothing into the next bucket.
    const at = open.at + Math.max(0, lastAt - firstAt) / 2
    open = null
    for (const [queue, tally] of queues) waiting.push({ queue, at, bucketAt, data: dataOf(tally) })
    if (waiting.length > mostWaiting) waiting = thinned(waiting, mostWaiting / 2)
  }

  function tallyOf(queue: string): Tally {
    const wall = platform.now()
    // Also when the clock was set back.
    if (open !== null && (wall >= open.bucketAt + BUCKET_MS || wall < open.bucketAt)) close()
    open ??= begin(wall)
    open.lastAt = wall
    let tally = open.queues.get(queue)
    if (tally === undefined) open.queues.set(queue, (tally = { counters: {}, histograms: {} }))
    return tally
  }

  return {
    count: (type, event) => COUNTED[type]?.(event, tallyOf),
    take(most) {
      close()
      return waiting.splice(0, most)
    },
    isEmpty: () => waiting.length === 0 && open === null,
  }
}

type Counted = { readonly [T in EventType]?: (event: EventTable[T], of: (queue: string) => Tally) => void }

const COUNTED: Counted = {
  enqueued: ({ queue, outcome }, of) => add(of(queue), outcome),
  duplicate: ({ queue }, of) => add(of(queue), 'duplicate'),
  started({ queue, waitedMs }, of) {
    const tally = of(queue)
    add(tally, 'started')
    time(tally, 'waiting', waitedMs)
  },
  finished({ queue, ranMs, totalMs }, of) {
    const tally = of(queue)
    add(tally, 'done')
    time(tally, 'running', ranMs)
    time(tally, 'total', totalMs)
  },
  retried: (event, of) => ended('retried', event, of),
  dead: (event, of) => ended('dead', event, of),
  cancelled: (event, of) => ended('cancelled', event, of),
  snoozed: (event, of) => ended('snoozed', event, of),
  throttled: (event, of) => ended('throttled', event, of),
  interrupted: (event, of) => ended('interrupted', event, of),
  // How long it ran comes with what follows.
  'timed-out': ({ queue }, of) => add(of(queue), 'timedOut'),
  reaped({ jobs }, of) {
    for (const { queue, state } of jobs) {
      add(of(queue), 'reaped')
      // Of those that died `dead` tells; of these nobody else does.
      if (state === 'cancelled') add(of(queue), 'cancelled')
    }
  },
}

function ended(
  counter: Counter,
  { queue, ranMs }: { readonly queue: string; readonly ranMs?: number },
  of: (queue: string) => Tally,
): void {
  const tally = of(queue)
  add(tally, counter)
  if (ranMs !== undefined) time(tally, 'running', ranMs)
}

function add({ counters }: Tally, counter: Counter): void {
  counters[counter] = (counters[counter] ?? 0) + 1
}

function time({ histograms }: Tally, latency: Latency, ms: number): void {
  const histogram = (histograms[latency] ??= {})
  const bucket = bucketOf(ms)
  histogram[bucket] = (histogram[bucket] ?? 0) + 1
}

function dataOf({ counters, histograms }: Tally): MetricData {
  return Object.keys(histograms).length === 0 ? { counters } : { counters, histograms }
}

/** By the minute, and if those are still too many by the hour: what is that late is looked at in no finer view. */
function thinned(all: readonly QueueDelta[], most: number): QueueDelta[] {
  const [, minute, hour] = RESOLUTIONS
  const byMinute = grouped(all, minute)
  return byMinute.length <= most ? byMinute : grouped(byMinute, hour)
}

function grouped(all: readonly QueueDelta[], size: number): QueueDelta[] {
  const groups = new Map<string, QueueDelta>()
  for (const one of all) {
    const key = `${Math.floor(one.bucketAt / size)} ${one.queue}`
    const first = groups.get(key)
    groups.set(key, first === undefined ? one : { ...first, data: mergeData(first.data, one.data) })
  }
  return [...groups.values()]
}
