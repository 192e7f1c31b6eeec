/**
 * Processes that emit random events and flush with occasional failures, next to a brute-force reference: a
 * list of every event and of every sample of queues and limits.
 */
import * as fc from 'fast-check'
import { JobmillError } from '../../src/job/errors.ts'
import { boundOf, bucketOf } from '../../src/job/metric-data.ts'
import { type EventHub, eventHub } from '../../src/observe/event-hub.ts'
import {
  ATTEMPT_ENDS,
  type AttemptEnd,
  type Counter,
  COUNTERS,
  LATENCIES,
  type Latency,
} from '../../src/observe/tally.ts'
import { type Observer, observer } from '../../src/observe/observer.ts'
import { systemPlatform } from '../../src/platform/platform.ts'
import type { KindSeries, LimitSeries, Percentiles, QueueSeries } from '../../src/runtime/report/series.ts'
import type { FullStore } from '../../src/store/store.ts'
import { faultyStore } from '../../src/testing/index.ts'
import { aJob } from '../../../conformance/src/index.ts'
import { attemptIn, type Clock, finished, started } from './bench.ts'

const PROCESSES = 3
/** The version of each process. */
const VERSIONS = ['2.14.0', '2.15.0', null] as const
const QUEUES = ['a', 'b'] as const
const FATES = ['written', 'failed', 'reply lost', 'lost on the way'] as const
const TYPES = ['enqueued', 'duplicate', 'started', 'finished', 'retried', 'dead', 'cancelled'] as const

const DRAWS = ['granted', 'refused'] as const
/** The fields of a sample, for a queue and for a limit. */
const LEVELS = {
  queue: ['scheduled', 'ready', 'running', 'dead', 'oldestReadyMs'],
  limit: ['available', 'held'],
} as const
/** The process that samples. */
const SAMPLER = 0

const upTo = (most: number): fc.Arbitrary<number> => fc.integer({ min: 0, max: most })
const times = fc.oneof(upTo(50), upTo(100_000), fc.double({ min: 0, max: 5, noNaN: true }))
const processes = fc.nat({ max: PROCESSES - 1 })

export const histories = fc.array(
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({
        do: fc.constant('tell' as const),
        process: processes,
        queue: fc.constantFrom(...QUEUES),
        type: fc.constantFrom(...TYPES),
        ms: times,
        moreMs: times,
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('draw' as const),
        process: processes,
        kind: fc.constantFrom('x', 'granted y'),
        draw: fc.constantFrom(...DRAWS),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('stand' as const),
        queue: fc.constantFrom(...QUEUES),
        how: fc.constantFrom('ready', 'scheduled', 'empty', 'taken'),
      }),
    },
    // Like the duty: often enough to find every 10 s.
    { weight: 6, arbitrary: fc.record({ do: fc.constant('sample' as const), times: upTo(9) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: upTo(25_000) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: upTo(4_000_000) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('flush' as const),
        process: processes,
        fate: fc.constantFrom(...FATES),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('roll up' as const), limit: fc.integer({ min: 1, max: 20 }) }),
    },
  ),
  { minLength: 40, maxLength: 120 },
)
type Step = typeof histories extends fc.Arbitrary<(infer S)[]> ? S : never

interface CountedEvent {
  readonly at: number
  readonly version: string | null
  readonly queue: string
  readonly counter: Counter
  readonly times: Readonly<Partial<Record<Latency, number>>>
}

interface Drawn {
  readonly at: number
  readonly kind: string
  readonly draw: (typeof DRAWS)[number]
}

/** The gauges of a queue or a limit at one instant. */
interface GaugeSample {
  readonly at: number
  readonly name: string
  readonly levels: Readonly<Record<string, number>>
}

export interface World {
  readonly step: (step: Step) => Promise<void>
  /** Every process writes its remaining metrics. */
  readonly flushAll: () => Promise<void>
  /** Writes every sample: until then the last one of each may wait for the end of its minute. */
  readonly endSamples: () => Promise<void>
  /** The expected metrics of all queues, at this bucket size. */
  readonly expected: (resolution: number) => Pick<QueueSeries, 'queue'>[]
  /** The expected metrics of all kinds: each ended attempt once, in whatever queue. */
  readonly expectedKinds: (resolution: number) => Pick<KindSeries, 'kind'>[]
  /** The expected grants of the limit. */
  readonly expectedDraws: (resolution: number) => Pick<LimitSeries, 'limit'>[]
  /**
   * Mean and maximum of all samples between two instants; null when none is required, because the hour was
   * empty.
   */
  readonly expectedLevels: (
    what: keyof typeof LEVELS,
    name: string,
    from: number,
    before: number,
  ) => Readonly<Record<string, { readonly mean: number; readonly most: number } | null>>
  /** The hours with a sample that was not empty, or had just become empty. */
  readonly livelyHours: (what: keyof typeof LEVELS, name: string) => number[]
}

export function world(plain: FullStore, clock: Clock): World {
  const store = faultyStore(plain)
  const countedEvents: CountedEvent[] = []
  const drawn: Drawn[] = []
  const samples = { queue: [] as GaugeSample[], limit: [] as GaugeSample[] }
  let sampledAt = -1
  const all = Array.from({ length: PROCESSES }, (_, process): { hub: EventHub; observer: Observer } => {
    const hub = eventHub(clock)
    const own = observer({
      hub,
      store,
      platform: clock,
      instance: systemPlatform.id(),
      version: VERSIONS[process] ?? null,
      samples: () => process === SAMPLER,
    })
    own.start()
    return { hub, observer: own }
  })
  const at = (process: number): (typeof all)[number] => all[process] ?? fail()

  /** Takes a sample, if one is due at this instant. */
  async function look(): Promise<void> {
    const at = clock.now()
    const bucketAt = at - (at % 10_000)
    if (at % 10_000 < 5_000 || bucketAt === sampledAt) return
    sampledAt = bucketAt
    for (const { queue, oldestReadyMs, ...counts } of await plain.counts())
      samples.queue.push({ at, name: queue, levels: { ...counts, oldestReadyMs: oldestReadyMs ?? 0 } })
    for (const { name, available, held } of await plain.limits.list())
      // A limit is empty when it is full: its missing budget corresponds to the jobs of a queue.
      samples.limit.push({ at, name, levels: { available, held } })
  }

  async function flush(process: number, fate: (typeof FATES)[number]): Promise<void> {
    if (fate === 'failed') store.fail('metrics.record')
    if (fate === 'reply lost') store.loseReply('metrics.record')
    if (fate === 'lost on the way')
      store.fail('metrics.record', { error: new JobmillError('OUTCOME_UNKNOWN', 'lost') })
    if (process === SAMPLER) await look()
    await at(process)
      .observer.pass()
      .catch(() => {})
    store.clear()
  }

  async function stand(queue: string, how: string): Promise<void> {
    if (how === 'taken') {
      const [holder, instance] = [systemPlatform.id(), systemPlatform.id()]
      const take = { limit: LIMIT, amount: 1, holder, instance, token: null, waitUpToMs: 0 }
      return void (await plain.limits.acquire([take]))
    }
    if (how === 'empty') {
      const { jobs } = await plain.list({ queue }, { limit: 500 })
      return void (await plain.delete(jobs.map(({ id }) => id)))
    }
    await plain.enqueue([aJob({ queue, ...(how === 'scheduled' && { delay: '1d' }) })])
  }

  async function sample(times: number): Promise<void> {
    for (let n = 0; n < times; n += 1) {
      clock.advance(10_000 - (clock.now() % 10_000) + 5_000)
      await flush(SAMPLER, 'written')
    }
  }

  return {
    async step(step) {
      if (step.do === 'wait') return clock.advance(step.ms)
      if (step.do === 'roll up') return void (await plain.metrics.rollUp(step.limit))
      if (step.do === 'flush') return flush(step.process, step.fate)
      if (step.do === 'stand') return stand(step.queue, step.how)
      if (step.do === 'sample') return sample(step.times)
      if (step.do === 'draw') {
        const { kind, draw } = step
        drawn.push({ at: clock.now(), kind, draw })
        return at(step.process).observer.drew(LIMIT, kind, draw)
      }
      const { counter, times: latencies } = tell(at(step.process).hub, step)
      const version = VERSIONS[step.process] ?? null
      countedEvents.push({ at: clock.now(), version, queue: step.queue, counter, times: latencies })
    },
    async flushAll() {
      for (const { observer: own } of all) while (own.needed()) await own.pass()
    },
    async endSamples() {
      // Change every gauge once more, so that its last run of equal samples ends.
      await sample(1)
      for (const queue of QUEUES) await stand(queue, 'ready')
      await stand('', 'taken')
      await sample(1)
    },
    expectedKinds(resolution) {
      // A cancelled job was waiting, so no attempt ended.
      const ends = countedEvents.filter(({ times: { running } }) => running !== undefined)
      return ends.length === 0 ? [] : [{ kind: KIND, ...bucketed(ends, resolution, endsOf) }]
    },
    expectedDraws: (resolution) =>
      drawn.length === 0 ? [] : [{ limit: LIMIT, ...bucketed(drawn, resolution, drawsOf) }],
    expectedLevels(what, name, from, before) {
      const within = samples[what].filter((one) => one.name === name && one.at >= from && one.at < before)
      const gauge = (level: string): { mean: number; most: number } | null => {
        const values = within.map(({ levels }) => levels[level] ?? 0)
        if (values.length === 0) return null
        return { mean: values.reduce((a, b) => a + b, 0) / values.length, most: Math.max(...values) }
      }
      return Object.fromEntries(LEVELS[what].map((level) => [level, gauge(level)]))
    },
    livelyHours(what, name) {
      const own = samples[what].filter((one) => one.name === name)
      const lively = own.filter(
        (one, n) => !isAtRest(what, one) || (n > 0 && !isAtRest(what, own[n - 1] ?? one)),
      )
      return [...new Set(lively.map((one) => one.at - (one.at % 3_600_000)))]
    },
    expected: (resolution) =>
      QUEUES.filter((queue) => countedEvents.some((one) => one.queue === queue)).map((queue) =>
        seriesOf(
          queue,
          countedEvents.filter((one) => one.queue === queue),
          resolution,
        ),
      ),
  }
}

/** The kind of every job. */
export const KIND = 'work'

/** The one limit: a rate of 5 in an hour. */
export const LIMIT = 'smtp'

function isAtRest(what: keyof typeof LEVELS, { levels }: GaugeSample): boolean {
  if (what === 'limit') return levels['available'] === 5
  return ['scheduled', 'ready', 'running', 'dead'].every((state) => levels[state] === 0)
}

function drawsOf(drawn: readonly Drawn[]): object {
  const count = (draw: string, kind?: string): number =>
    drawn.filter((one) => one.draw === draw && (kind === undefined || one.kind === kind)).length
  const draws = (kind?: string): object => Object.fromEntries(DRAWS.map((draw) => [draw, count(draw, kind)]))
  const kinds = [...new Set(drawn.map(({ kind }) => kind))].toSorted()
  return { ...draws(), byKind: Object.fromEntries(kinds.map((kind) => [kind, draws(kind)])) }
}

function endsOf(events: readonly CountedEvent[]): object {
  const count = (end: AttemptEnd): number => events.filter(({ counter }) => counter === end).length
  return {
    ended: Object.fromEntries(ATTEMPT_ENDS.map((end) => [end, count(end)])),
    running: percentilesOf(events, 'running'),
    workerMs: Math.round(events.reduce((sum, one) => sum + middleOf(one.times.running ?? 0), 0)),
    byVersion: Object.fromEntries(
      VERSIONS.flatMap((version) => {
        const own = events.filter((one) => one.version === version && SUCCESS.includes(one.counter))
        if (version === null || own.length === 0) return []
        return [
          [version, { attempts: own.length, failed: own.filter(({ counter }) => counter !== 'done').length }],
        ]
      }),
    ),
  }
}

/** The middle of the histogram bucket of a value. */
function middleOf(ms: number): number {
  const bucket = bucketOf(ms)
  return (boundOf(bucket) + boundOf(bucket - 1)) / 2
}

/** The ends that say whether an attempt succeeded. */
const SUCCESS: readonly Counter[] = ['done', 'retried', 'dead']

function fail(): never {
  throw new Error('no such process')
}

function tell(
  { emit }: EventHub,
  step: Extract<Step, { do: 'tell' }>,
): Pick<CountedEvent, 'counter' | 'times'> {
  const { queue, type, ms, moreMs } = step
  const attempt = attemptIn(queue)
  switch (type) {
    case 'enqueued':
      emit('enqueued', { id: attempt.id, kind: 'work', queue, outcome: 'enqueued' })
      return { counter: 'enqueued', times: {} }
    case 'duplicate':
      emit('duplicate', { id: attempt.id, kind: 'work', queue })
      return { counter: 'duplicate', times: {} }
    case 'started':
      emit('started', started(queue, ms))
      return { counter: 'started', times: { waiting: ms } }
    case 'finished':
      emit('finished', finished(queue, ms, ms + moreMs))
      return { counter: 'done', times: { running: ms, total: ms + moreMs } }
    case 'retried':
      emit('retried', { ...attempt, ranMs: ms, delayMs: 1, error: 'x' })
      return { counter: 'retried', times: { running: ms } }
    case 'dead':
      emit('dead', { ...attempt, ranMs: ms, error: 'x' })
      return { counter: 'dead', times: { running: ms } }
    case 'cancelled':
      emit('cancelled', { ...attempt, reason: 'it waited' })
      return { counter: 'cancelled', times: {} }
  }
}

function seriesOf(
  queue: string,
  events: readonly CountedEvent[],
  resolution: number,
): Pick<QueueSeries, 'queue'> {
  return { queue, ...bucketed(events, resolution, figuresOf) }
}

function bucketed<T extends { readonly at: number }>(
  events: readonly T[],
  resolution: number,
  of: (some: readonly T[]) => object,
): { readonly all: object; readonly points: readonly object[] } {
  const buckets = new Map<number, T[]>()
  for (const one of events) {
    const at = one.at - (one.at % resolution)
    buckets.set(at, [...(buckets.get(at) ?? []), one])
  }
  const points = [...buckets].toSorted(([a], [b]) => a - b).map(([at, own]) => ({ at, ...of(own) }))
  return { all: of(events), points }
}

function figuresOf(events: readonly CountedEvent[]): object {
  const count = (counter: Counter): number => events.filter((one) => one.counter === counter).length
  return {
    counters: Object.fromEntries(COUNTERS.map((counter) => [counter, count(counter)])),
    ...Object.fromEntries(LATENCIES.map((latency) => [latency, percentilesOf(events, latency)])),
  }
}

/** By nearest rank on the sorted values, then the bucket of that value. */
function percentilesOf(events: readonly CountedEvent[], latency: Latency): Percentiles {
  const sorted = events
    .flatMap(({ times: { [latency]: ms } }) => (ms === undefined ? [] : [ms]))
    .toSorted((a, b) => a - b)
  const at = (share: number): number | null => {
    const value = sorted[Math.ceil(share * sorted.length) - 1]
    return value === undefined ? null : boundOf(bucketOf(value))
  }
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
