/** Defines what each event counts for its queue and its kind: counters and latencies, which can be summed. */
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
  'parked',
  'throttled',
  'timedOut',
  'interrupted',
  'reaped',
  'stepsRecorded',
  'stepsFailed',
] as const
export type Counter = (typeof COUNTERS)[number]

/** From ready to claimed, the run time of an attempt whatever its outcome, and from enqueue to done. */
export const LATENCIES = ['waiting', 'running', 'total'] as const
export type Latency = (typeof LATENCIES)[number]

/** How an attempt of this process ended. These are the counters of a kind: each attempt counts once. */
export const ATTEMPT_ENDS = [
  'done',
  'retried',
  'dead',
  'timedOut',
  'cancelled',
  'snoozed',
  'parked',
  'throttled',
  'interrupted',
] as const satisfies readonly Counter[]
export type AttemptEnd = (typeof ATTEMPT_ENDS)[number]

export interface Tally {
  readonly counters: Partial<Record<Counter, number>>
  readonly histograms: Partial<Record<Latency, Record<number, number>>>
  /** The sum of each histogram, in ms. */
  readonly sums: Partial<Record<Latency, number>>
  /**
   * Each attempt once. The counters count a timed-out attempt twice, and also jobs that failed or were
   * cancelled without an attempt.
   */
  readonly ended: Partial<Record<AttemptEnd, number>>
}

export function newTally(): Tally {
  return { counters: {}, histograms: {}, sums: {}, ended: {} }
}

/** The part that is written to the store. */
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
  /** The current tally of a queue. */
  readonly of: (queue: string) => Tally
  /** The current tally of a kind. It has only the ends of attempts, and how long they ran. */
  readonly ofKind: (kind: string) => Tally
  /** The job whose attempt was just reported as timed out. The event with its outcome follows immediately. */
  late: string | null
}

/** Counts every event in the tally of its queue, and ends of attempts also in the tally of their kind. */
export function tallies(of: Counting['of'], ofKind: Counting['ofKind']): Tap {
  const counting: Counting = { of, ofKind, late: null }
  return (type, event) => COUNTED[type]?.(event, counting)
}

type Counted = { readonly [T in EventType]?: (event: EventTable[T], counting: Counting) => void }

// The first three run for every job. They use literal property names, because a variable name is several
// times slower.
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
  finished({ queue, kind, ranMs, totalMs }, { of, ofKind }) {
    const tally = of(queue)
    const { counters, histograms, sums, ended } = tally
    counters.done = (counters.done ?? 0) + 1
    ended.done = (ended.done ?? 0) + 1
    const bucket = bucketOf(ranMs)
    ran(tally, ranMs, bucket)
    const own = ofKind(kind)
    own.counters.done = (own.counters.done ?? 0) + 1
    addTo((own.histograms.running ??= {}), bucket)
    note((histograms.total ??= {}), totalMs)
    sums.total = (sums.total ?? 0) + Math.max(0, totalMs)
  },
  duplicate: ({ queue }, { of }) => add(of(queue).counters, 'duplicate'),
  'step-recorded': ({ queue }, { of }) => add(of(queue).counters, 'stepsRecorded'),
  'step-failed': ({ queue }, { of }) => add(of(queue).counters, 'stepsFailed'),
  retried: (event, counting) => ended('retried', event, counting),
  dead: (event, counting) => ended('dead', event, counting),
  cancelled: (event, counting) => ended('cancelled', event, counting),
  snoozed: (event, counting) => ended('snoozed', event, counting),
  parked: (event, counting) => ended('parked', event, counting),
  throttled: (event, counting) => ended('throttled', event, counting),
  interrupted: (event, counting) => ended('interrupted', event, counting),
  'timed-out'({ queue, id }, counting) {
    add(counting.of(queue).counters, 'timedOut')
    // The next event has its run time.
    counting.late = id
  },
  reaped({ jobs }, { of }) {
    for (const { queue, state } of jobs) {
      add(of(queue).counters, 'reaped')
      // The `dead` event covers dead jobs. No other event covers cancelled ones.
      if (state === 'cancelled') add(of(queue).counters, 'cancelled')
    }
  },
}

interface EndedJob {
  readonly id: string
  readonly queue: string
  readonly kind: string
  readonly ranMs?: number
}

function ended(how: AttemptEnd, { id, queue, kind, ranMs }: EndedJob, counting: Counting): void {
  const tally = counting.of(queue)
  add(tally.counters, how)
  const isLate = counting.late === id
  counting.late = null
  // An interrupted attempt has run, whether or not its handler has ended.
  if (ranMs === undefined && how !== 'interrupted') return
  const end = isLate ? 'timedOut' : how
  const own = counting.ofKind(kind)
  add(tally.ended, end)
  add(own.counters, end)
  if (ranMs === undefined) return
  const bucket = bucketOf(ranMs)
  ran(tally, ranMs, bucket)
  addTo((own.histograms.running ??= {}), bucket)
}

function add<Name extends string>(counts: Partial<Record<Name, number>>, name: Name): void {
  counts[name] = (counts[name] ?? 0) + 1
}

function ran({ histograms, sums }: Tally, ms: number, bucket: number): void {
  addTo((histograms.running ??= {}), bucket)
  // A sum never decreases, even if a clock was set back.
  sums.running = (sums.running ?? 0) + Math.max(0, ms)
}

function note(histogram: Record<number, number>, ms: number): void {
  addTo(histogram, bucketOf(ms))
}

function addTo(histogram: Record<number, number>, bucket: number): void {
  histogram[bucket] = (histogram[bucket] ?? 0) + 1
}
