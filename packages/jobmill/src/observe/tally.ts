/** What is counted of which event: counters and times of one queue, which can be added up. */
import type { EventTable, EventType } from '../job/events.ts'
import { bucketOf, type MetricData } from '../job/metric-data.ts'
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

/** How an attempt that ran here ended: one word for each. */
export type AttemptEnd = Exclude<Counter, 'enqueued' | 'replaced' | 'duplicate' | 'started' | 'reaped'>

export interface Tally {
  readonly counters: Partial<Record<Counter, number>>
  readonly histograms: Partial<Record<Latency, Record<number, number>>>
  /** What the times of each histogram come to, in ms. */
  readonly sums: Partial<Record<Latency, number>>
  /** The counters know a timed-out attempt twice, and jobs that died or were cancelled without one: this has each attempt once. */
  readonly ended: Partial<Record<AttemptEnd, number>>
}

export function newTally(): Tally {
  return { counters: {}, histograms: {}, sums: {}, ended: {} }
}

/** What is written of it. */
export function dataOf({ counters, histograms }: Tally): MetricData {
  return Object.keys(histograms).length === 0 ? { counters } : { counters, histograms }
}

export function addTally(into: Tally, more: Tally): void {
  addNumbers(into.counters, more.counters)
  addNumbers(into.sums, more.sums)
  addNumbers(into.ended, more.ended)
  for (const latency of LATENCIES) {
    const histogram = more.histograms[latency]
    if (histogram !== undefined) addNumbers((into.histograms[latency] ??= {}), histogram)
  }
}

function addNumbers(into: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [key, n] of Object.entries(more)) into[key] = (into[key] ?? 0) + n
}

interface Counting {
  /** The tally of a queue at this moment. */
  readonly of: (queue: string) => Tally
  /** The job whose attempt was just told as timed out: what became of it is told next, in the same breath. */
  late: string | null
}

/** Counts every event in the tally of its queue. */
export function tallies(of: Counting['of']): Tap {
  const counting: Counting = { of, late: null }
  return (type, event) => COUNTED[type]?.(event, counting)
}

type Counted = { readonly [T in EventType]?: (event: EventTable[T], counting: Counting) => void }

// The first three every job comes by. What they count is named where it is counted: by a name that varies it takes several times as long.
const COUNTED: Counted = {
  enqueued({ queue, outcome }, { of }) {
    const { counters } = of(queue)
    if (outcome === 'enqueued') counters.enqueued = (counters.enqueued ?? 0) + 1
    else add(counters, outcome)
  },
  started({ queue, waitedMs }, { of }) {
    const { counters, histograms, sums } = of(queue)
    counters.started = (counters.started ?? 0) + 1
    note((histograms.waiting ??= {}), waitedMs)
    sums.waiting = (sums.waiting ?? 0) + Math.max(0, waitedMs)
  },
  finished({ queue, ranMs, totalMs }, { of }) {
    const tally = of(queue)
    const { counters, histograms, sums, ended } = tally
    counters.done = (counters.done ?? 0) + 1
    ended.done = (ended.done ?? 0) + 1
    ran(tally, ranMs)
    note((histograms.total ??= {}), totalMs)
    sums.total = (sums.total ?? 0) + Math.max(0, totalMs)
  },
  duplicate: ({ queue }, { of }) => add(of(queue).counters, 'duplicate'),
  retried: (event, counting) => ended('retried', event, counting),
  dead: (event, counting) => ended('dead', event, counting),
  cancelled: (event, counting) => ended('cancelled', event, counting),
  snoozed: (event, counting) => ended('snoozed', event, counting),
  throttled: (event, counting) => ended('throttled', event, counting),
  interrupted: (event, counting) => ended('interrupted', event, counting),
  'timed-out'({ queue, id }, counting) {
    add(counting.of(queue).counters, 'timedOut')
    // How long it ran comes with what follows.
    counting.late = id
  },
  reaped({ jobs }, { of }) {
    for (const { queue, state } of jobs) {
      add(of(queue).counters, 'reaped')
      // Of those that died `dead` tells; of these nobody else does.
      if (state === 'cancelled') add(of(queue).counters, 'cancelled')
    }
  },
}

interface EndedJob {
  readonly id: string
  readonly queue: string
  readonly ranMs?: number
}

function ended(how: AttemptEnd, { id, queue, ranMs }: EndedJob, counting: Counting): void {
  const tally = counting.of(queue)
  add(tally.counters, how)
  const isLate = counting.late === id
  counting.late = null
  if (ranMs !== undefined) ran(tally, ranMs)
  // One that is interrupted has run, whether its handler has ended by now or not.
  else if (how !== 'interrupted') return
  add(tally.ended, isLate ? 'timedOut' : how)
}

function add<Name extends string>(counts: Partial<Record<Name, number>>, name: Name): void {
  counts[name] = (counts[name] ?? 0) + 1
}

function ran({ histograms, sums }: Tally, ms: number): void {
  note((histograms.running ??= {}), ms)
  // A sum never goes down, also when a clock was set back meanwhile.
  sums.running = (sums.running ?? 0) + Math.max(0, ms)
}

function note(histogram: Record<number, number>, ms: number): void {
  const bucket = bucketOf(ms)
  histogram[bucket] = (histogram[bucket] ?? 0) + 1
}
