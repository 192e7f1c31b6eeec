/**
 * Metrics of queues for charts. The API sends them in columns; here they become points. Only the first read
 * of a range fetches all of it: later reads fetch the newest bins and add them to those that are known.
 */
import type { Answer } from '../types.ts'

type Columns = Answer<'charts.read'>['queues'][number]
export type ChartCounter = keyof Columns['counters']
export type ChartLevel = keyof Columns['counts']
type Shares = Readonly<Record<keyof Columns['waiting'], number | null>>

export interface ChartPoint {
  readonly at: number
  readonly counters: Readonly<Record<ChartCounter, number>>
  /** Means; of `oldestReadyMs` the maximum. */
  readonly counts: Readonly<Record<ChartLevel, number | null>>
  readonly waiting: Shares
  readonly running: Shares
}

export interface QueuePoints {
  readonly queue: string
  /** Ascending; bins without activity are left out. */
  readonly points: readonly ChartPoint[]
}

export interface Charts {
  readonly from: number
  readonly to: number | null
  readonly resolutionMs: number
  readonly queues: readonly QueuePoints[]
}

export interface KnownCharts extends Charts {
  /** `readAt`: when the newest bins were last read. `wholeAt`: when all bins were last read. */
  readonly readAt: number
  readonly wholeAt: number
}

export function chartsOf({ queues, ...rest }: Answer<'charts.read'>): Charts {
  const { from, resolutionMs } = rest
  return {
    ...rest,
    queues: queues.map(({ queue, bins, counters, counts, waiting, running }) => ({
      queue,
      points: bins.map((bin, at) => ({
        at: from + bin * resolutionMs,
        counters: rowOf(counters, at, 0),
        counts: rowOf(counts, at, null),
        waiting: rowOf(waiting, at, null),
        running: rowOf(running, at, null),
      })),
    })),
  }
}

function rowOf<Key extends string, Value>(
  columns: Readonly<Record<Key, readonly Value[]>>,
  at: number,
  nothing: Value,
): Record<Key, Value> {
  return Object.fromEntries(
    Object.entries<readonly Value[]>(columns).map(([key, values]) => [key, values[at] ?? nothing]),
  ) as Record<Key, Value>
}

/** Processes write their metrics every 2 s. After database errors, they write late. */
const LATE_MS = 30_000
/** How often all bins are read again, to find metrics that were written even later. */
const WHOLE_EVERY_MS = 10 * 60_000

/** Where the next read starts: at the newest bins that may have changed, or at the start of the range. */
export function nextFrom(known: KnownCharts | undefined, from: number, now: number): number {
  if (known === undefined || now - known.wholeAt >= WHOLE_EVERY_MS || from < known.from) return from
  return Math.max(from, known.readAt - LATE_MS)
}

/** Adds newer bins. They replace the known bins of their time, and bins before `from` are dropped. */
export function withNewer(known: Charts, newer: Charts, from: number): Charts {
  const first = from - (from % newer.resolutionMs)
  const fresh = new Map(newer.queues.map(({ queue, points }) => [queue, points]))
  const before = new Map(known.queues.map(({ queue, points }) => [queue, points]))
  const names = [...new Set([...before.keys(), ...fresh.keys()])].toSorted()
  const queues = names.map((queue) => {
    const old = (before.get(queue) ?? []).filter(({ at }) => at >= first && at < newer.from)
    return { queue, points: [...old, ...(fresh.get(queue) ?? [])] }
  })
  return { ...newer, from: first, queues: queues.filter(({ points }) => points.length > 0) }
}

/** The sum of a counter over all points. */
export function sumOf(points: readonly ChartPoint[], counter: ChartCounter): number {
  return points.reduce((sum, { counters }) => sum + counters[counter], 0)
}
