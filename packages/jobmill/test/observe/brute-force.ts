/**
 * Processes that tell events at random, flush now and then, and do not always get through; beside them the plain answer: every event in a list, looked
 * through from end to end.
 */
import * as fc from 'fast-check'
import { JobmillError } from '../../src/job/errors.ts'
import { boundOf, bucketOf } from '../../src/job/metric-data.ts'
import { type EventHub, eventHub } from '../../src/observe/event-hub.ts'
import { type Counter, COUNTERS, LATENCIES, type Latency } from '../../src/observe/tally.ts'
import { type Observer, observer } from '../../src/observe/observer.ts'
import { systemPlatform } from '../../src/platform/platform.ts'
import type { Percentiles, QueueSeries } from '../../src/runtime/series.ts'
import type { Store } from '../../src/store/store.ts'
import { faultyStore } from '../../src/testing/index.ts'
import { attemptIn, type Clock, finished, started } from './bench.ts'

const PROCESSES = 3
const QUEUES = ['a', 'b'] as const
const FATES = ['written', 'failed', 'reply lost', 'lost on the way'] as const
const TYPES = ['enqueued', 'duplicate', 'started', 'finished', 'retried', 'dead', 'cancelled'] as const

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

interface Seen {
  readonly at: number
  readonly queue: string
  readonly counter: Counter
  readonly times: Readonly<Partial<Record<Latency, number>>>
}

export interface World {
  readonly step: (step: Step) => Promise<void>
  /** Every process writes what it has left. */
  readonly flushAll: () => Promise<void>
  /** What the figures of all queues must read, at this size of bucket. */
  readonly expected: (resolution: number) => Pick<QueueSeries, 'queue'>[]
}

export function world(plain: Store, clock: Clock): World {
  const store = faultyStore(plain)
  const seen: Seen[] = []
  const all = Array.from({ length: PROCESSES }, (): { hub: EventHub; seen: Observer } => {
    const hub = eventHub(clock)
    const own = observer({ hub, store, platform: clock, instance: systemPlatform.id() })
    own.start()
    return { hub, seen: own }
  })
  const at = (process: number): (typeof all)[number] => all[process] ?? fail()

  async function flush(process: number, fate: (typeof FATES)[number]): Promise<void> {
    if (fate === 'failed') store.fail('record')
    if (fate === 'reply lost') store.loseReply('record')
    if (fate === 'lost on the way')
      store.fail('record', { error: new JobmillError('OUTCOME_UNKNOWN', 'lost') })
    await at(process)
      .seen.pass()
      .catch(() => {})
    store.clear()
  }

  return {
    async step(step) {
      if (step.do === 'wait') return clock.advance(step.ms)
      if (step.do === 'roll up') return void (await plain.rollUp(step.limit))
      if (step.do === 'flush') return flush(step.process, step.fate)
      const { counter, times: latencies } = tell(at(step.process).hub, step)
      seen.push({ at: clock.now(), queue: step.queue, counter, times: latencies })
    },
    async flushAll() {
      for (const { seen: own } of all) while (own.needed()) await own.pass()
    },
    expected: (resolution) =>
      QUEUES.filter((queue) => seen.some((one) => one.queue === queue)).map((queue) =>
        seriesOf(
          queue,
          seen.filter((one) => one.queue === queue),
          resolution,
        ),
      ),
  }
}

function fail(): never {
  throw new Error('no such process')
}

function tell({ emit }: EventHub, step: Extract<Step, { do: 'tell' }>): Pick<Seen, 'counter' | 'times'> {
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

function seriesOf(queue: string, seen: readonly Seen[], resolution: number): Pick<QueueSeries, 'queue'> {
  const buckets = new Map<number, Seen[]>()
  for (const one of seen) {
    const at = one.at - (one.at % resolution)
    buckets.set(at, [...(buckets.get(at) ?? []), one])
  }
  const points = [...buckets].toSorted(([a], [b]) => a - b).map(([at, own]) => ({ at, ...figuresOf(own) }))
  return { queue, all: figuresOf(seen), points } as Pick<QueueSeries, 'queue'>
}

function figuresOf(seen: readonly Seen[]): object {
  const count = (counter: Counter): number => seen.filter((one) => one.counter === counter).length
  return {
    counters: Object.fromEntries(COUNTERS.map((counter) => [counter, count(counter)])),
    ...Object.fromEntries(LATENCIES.map((latency) => [latency, percentilesOf(seen, latency)])),
  }
}

/** By nearest rank on the sorted values themselves; then the bucket of the value that was found. */
function percentilesOf(seen: readonly Seen[], latency: Latency): Percentiles {
  const sorted = seen
    .flatMap(({ times: { [latency]: ms } }) => (ms === undefined ? [] : [ms]))
    .toSorted((a, b) => a - b)
  const at = (share: number): number | null => {
    const value = sorted[Math.ceil(share * sorted.length) - 1]
    return value === undefined ? null : boundOf(bucketOf(value))
  }
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
